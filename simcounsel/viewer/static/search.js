// Words in all that was said, thought, remembered and planned, or what is near to them in meaning; each hit leads to its place.

import { momentOf } from "./clock.js";
import { announce, fill, h, visible } from "./dom.js";
import { bundled, get, path } from "./source.js";
import { show, state } from "./state.js";

const [WAIT_MS, WAIT_MEANING_MS] = [250, 600]; // until nothing more is typed
const [BEFORE, LENGTH, MOST] = [60, 260, 200]; // characters before the first word and in all; hits
const WHAT = { line: "said", memory: "remembered", thought: "thought, not said", plan: "planned" };

/** Build the panel into `section`. */
export function mountSearch(section, run, overview) {
  let later = null;
  let asked = null;
  const meaning = () => !bundled && state().by === "meaning";
  const box = h("input", { type: "search", id: "search-words", value: state().q || "", oninput: () => { clearTimeout(later); later = setTimeout(() => show({ q: box.value.trim() || null }, true), meaning() ? WAIT_MEANING_MS : WAIT_MS); } });
  const how = h("select", { "aria-label": "How to search", onchange: () => show({ by: how.value || null }, true) }, h("option", { value: "" }, "with these words"), h("option", { value: "meaning" }, "by meaning"));
  const hits = h("div", {});
  fill(section, h("h2", {}, "Search"), h("p", { class: "row" }, h("label", { for: "search-words" }, "All lines, thoughts, memories and plans"), box, bundled ? null : how), bundled ? h("p", { class: "soft small" }, "In this file lines and memories are searched.") : null, hits);
  box.focus();

  async function update() {
    const words = state().q || "";
    if (document.activeElement !== box) box.value = words;
    how.value = meaning() ? "meaning" : "";
    const key = `${how.value} ${words} ${overview.size}`;
    if (key === asked) return;
    asked = key;
    if (!words) return fill(hits, h("p", { class: "soft" }, meaning() ? "Type some words; the memories that are nearest to them in meaning are found." : "Type a word or more; a text must have all of them. Case and accents do not count."));
    if (meaning()) fill(hits, h("p", { class: "soft" }, "Looking … The first search by meaning makes an index of the run."));
    let found;
    try {
      found = bundled ? await within(run, overview, words) : await get(run, `search?q=${encodeURIComponent(words)}${meaning() ? "&by=meaning" : ""}`);
    } catch (error) {
      if (key === asked) fill(hits, h("p", { class: "warn" }, error.message));
      asked = null;
      return undefined;
    }
    if (key !== asked) return undefined;
    const told = found.model ? nearest(found) : found.all ? `${found.all} ${found.all === 1 ? "text" : "texts"}${found.all > found.hits.length ? `, the first ${found.hits.length} are shown` : ""}` : "Nothing with these words was said, thought, remembered or planned.";
    announce(told);
    return fill(hits, h("p", { class: "soft" }, told), h("ul", { class: "plainlist search-hits" }, found.hits.map((one) => hit(one, words))));
  }

  function hit(one, words) {
    const to = one.chat ? { panel: "talks", chat: one.chat, line: one.message ?? null } : one.what === "plan" ? { panel: "person" } : { panel: "memory" };
    return h("li", {}, h("button", { type: "button", class: "plain", onclick: () => show({ ...to, tick: one.tick, who: overview.tracks[one.who] ? one.who : undefined }) }, `${momentOf(overview, one.tick)}, ${one.all ? one.all.join(", ") : one.who}`),
      h("span", { class: "soft small" }, ` ${WHAT[one.what] || one.what}${one.nearness === undefined ? "" : `, nearness ${one.nearness.toFixed(2)}${one.times > 1 ? `, ${one.times} times, here the first` : ""}`}`), h("div", { class: "said", dir: "auto" }, marked(one.text, one.nearness === undefined ? words : "")));
  }

  return { update };
}

/** What a search by meaning found, in words. */
function nearest(found) {
  if (!found.all) return "Nothing is remembered in this run yet.";
  return `The ${found.hits.length} nearest of ${found.all} memories, by the vectors of ${found.model}${found.note ? `: ${found.note}` : ""}.`;
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
