// Words in all that was said, thought, remembered and planned; each hit leads to where it stands.

import { momentOf } from "./clock.js";
import { announce, fill, h, visible } from "./dom.js";
import { bundled, get, path } from "./source.js";
import { show, state } from "./state.js";

const WAIT_MS = 250; // until nothing more is typed
const [BEFORE, LENGTH, MOST] = [60, 260, 200]; // characters before the first word and in all; hits
const WHAT = { line: "said", memory: "remembered", thought: "thought, not said", plan: "planned" };

/** Build the panel into `section`. */
export function mountSearch(section, run, overview) {
  let later = null;
  let asked = null;
  const box = h("input", { type: "search", id: "search-words", value: state().q || "", oninput: () => { clearTimeout(later); later = setTimeout(() => show({ q: box.value.trim() || null }, true), WAIT_MS); } });
  const hits = h("div", {});
  fill(section, h("h2", {}, "Search"), h("p", { class: "row" }, h("label", { for: "search-words" }, "All lines, thoughts, memories and plans"), box), bundled ? h("p", { class: "soft small" }, "In this file lines and memories are searched.") : null, hits);
  box.focus();

  async function update() {
    const words = state().q || "";
    if (document.activeElement !== box) box.value = words;
    const key = `${words} ${overview.size}`;
    if (key === asked) return;
    asked = key;
    if (!words) return fill(hits, h("p", { class: "soft" }, "Type a word or more; all of them must stand in a text. Case and accents do not count."));
    const found = bundled ? await within(run, overview, words) : await get(run, `search?q=${encodeURIComponent(words)}`);
    if (key !== asked) return undefined;
    const told = found.all ? `${found.all} ${found.all === 1 ? "text" : "texts"}${found.all > found.hits.length ? `, the first ${found.hits.length} are shown` : ""}` : "Nothing with these words was said, thought, remembered or planned.";
    announce(told);
    return fill(hits, h("p", { class: "soft" }, told), h("ul", { class: "plainlist search-hits" }, found.hits.map((one) => hit(one, words))));
  }

  function hit(one, words) {
    const to = one.chat ? { panel: "talks", chat: one.chat, line: one.message ?? null } : one.what === "plan" ? { panel: "person" } : { panel: "memory" };
    return h("li", {}, h("button", { type: "button", class: "plain", onclick: () => show({ ...to, tick: one.tick, who: overview.tracks[one.who] ? one.who : undefined }) }, `${momentOf(overview, one.tick)}, ${one.who}`),
      h("span", { class: "soft small" }, ` ${WHAT[one.what] || one.what}`), h("div", { class: "said", dir: "auto" }, marked(one.text, words)));
  }

  return { update };
}

/** A text letter by letter without case, accents and width, and where each letter came from. */
function folded(text) {
  let plain = "";
  const from = [];
  let at = 0;
  for (const letter of text) {
    for (const one of letter.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "")) {
      plain += one;
      for (let unit = 0; unit < one.length; unit += 1) from.push(at);
    }
    at += letter.length;
  }
  return { plain, from };
}

const wordsOf = (text) => folded(text).plain.split(/\s+/).filter(Boolean);

/** The part of a text about the first of the words, with all of them marked. */
function marked(text, words) {
  const shown = visible(text);
  const { plain, from } = folded(shown);
  const spans = wordsOf(words).flatMap((word) => {
    const found = [];
    for (let at = plain.indexOf(word); at >= 0; at = plain.indexOf(word, at + word.length)) found.push([from[at], from[at + word.length] ?? shown.length]);
    return found;
  }).sort((one, two) => one[0] - two[0]);
  const start = Math.max(0, (spans[0]?.[0] ?? 0) - BEFORE);
  const end = Math.min(shown.length, start + LENGTH);
  const parts = [start ? "… " : ""];
  let at = start;
  for (const [begins, ends] of spans) {
    if (begins < at || begins >= end) continue;
    parts.push(shown.slice(at, begins), h("mark", {}, shown.slice(begins, ends)));
    at = ends;
  }
  return [...parts, shown.slice(at, Math.max(at, end)), end < shown.length ? " …" : ""];
}

/** The same search in a file without a server: its lines and memories. */
async function within(run, overview, words) {
  const wanted = wordsOf(words);
  const has = (text) => { const { plain } = folded(text); return wanted.every((word) => plain.includes(word)); };
  const found = [];
  for (const { chat, tick } of overview.talks) for (const line of (await get(run, path("conversation", chat))).lines) if (has(line.text)) found.push({ tick, what: "line", who: line.who, text: line.text, chat, message: line.message });
  for (const who of Object.keys(overview.tracks)) for (const one of await get(run, path("memories", who))) if (has(one.text)) found.push({ tick: one.tick, what: "memory", who, text: one.text });
  found.sort((one, two) => one.tick - two.tick);
  return { hits: found.slice(0, MOST), all: found.length };
}
