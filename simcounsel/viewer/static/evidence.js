// What a measurement rests on: the answers item by item, the conversations before it, what changed and by which words, and what had come to mind.

import { momentOf } from "./clock.js";
import { h, said } from "./dom.js";
import { keyOf, number, pointName, scoreName, RESPONDENTS } from "./scores.js";
import { get, path } from "./source.js";
import { show } from "./state.js";

const [HITS, RECALLS, MOST_CHANGES] = [3, 2, 6];
const CHANGES = { openness: "Openness", belief: "Belief", closeness: "Closeness to", persona: "Portrait, version" };

/** Everything behind one point, as elements. */
export async function evidence(run, overview, found, point) {
  const scale = found.scales[point.instrument];
  const before = found.points.findLast((one) => one !== point && one.who === point.who && one.instrument === point.instrument && one.respondent === point.respondent && one.round === 1 && one.tick < point.tick);
  const since = before ? before.tick : -1;
  const [recalls, memories] = overview.tracks[point.who] ? await Promise.all([get(run, path("recalls", point.who)), get(run, path("memories", point.who))]) : [[], []];
  return h("section", { "aria-label": "What it rests on" },
    h("div", { class: "row" }, h("h3", {}, said(scale.name), `, ${pointName(overview, point)}`), h("button", { type: "button", class: "close", onclick: () => show({ point: "none" }) }, "Close")),
    scores(scale, point, before), source(overview, point),
    talks(overview, point, before, since), items(scale, point, before),
    changes(overview, found.changes[point.who] || [], since, point.tick), minds(overview, recalls, memories, since, point));
}

function scores(scale, point, before) {
  const was = (name) => before?.scores.find((one) => one.name === name)?.value;
  return h("ul", { class: "plainlist" }, point.scores.map((one) => h("li", {}, h("b", {}, said(scoreName(scale, one.name)), ": ", one.value === null ? "no value" : number(one.value)), one.band ? `, ${one.band}` : "",
    one.value !== null && was(one.name) !== undefined && was(one.name) !== null ? h("span", { class: "soft" }, ` (${number(was(one.name))} before)`) : null,
    one.flags.length ? h("span", { class: "flag" }, ` ${one.flags.join("; ")}`) : null,
    one.reason ? h("span", { class: "soft small" }, " ", said(one.reason)) : null)));
}

function source(overview, point) {
  const where = point.source === "log" ? "during the run" : "afterwards";
  return h("p", { class: "soft small" }, `${momentOf(overview, point.tick)}; ${RESPONDENTS[point.respondent]}${point.judge ? ` by ${point.judge.startsWith("byhand:") ? "hand" : point.judge}` : ""}, ${where}${point.samples > 1 ? `; mean of ${point.samples} answers` : ""}${point.round > 1 ? `; retest ${point.round - 1}` : ""}${point.trial ? "; a model for trying the software: no measurement" : ""}.${point.clinicians ? ` ${point.clinicians}` : ""}`);
}

/** The conversations between the measurement before and this one; of a judged one, that itself. */
function talks(overview, point, before, since) {
  const about = point.chats.length ? overview.talks.filter((one) => point.chats.includes(one.chat)) : overview.talks.filter((one) => one.who.includes(point.who) && one.tick > since && one.tick <= point.tick);
  const title = point.chats.length ? "The conversation that was rated" : before ? `Conversations since the measurement before (${pointName(overview, before)})` : "Conversations before it";
  return [h("h4", {}, title), about.length ? h("ul", { class: "plainlist" }, about.map((one) => h("li", {}, toTalk(overview, one.chat, null, `${momentOf(overview, one.tick)}: ${one.who.join(" and ")}, ${one.lines} lines`)))) : h("p", { class: "soft" }, "none")];
}

function toTalk(overview, chat, line, words) {
  const talk = overview.talks.find((one) => one.chat === chat);
  return h("button", { type: "button", class: "plain", onclick: () => show({ panel: "talks", chat, line, tick: talk ? talk.tick : undefined }) }, words);
}

/** What changed in the person since then, each with the words that moved it and a way to the line. */
function changes(overview, all, since, upto) {
  const mine = all.filter((one) => one.tick > since && one.tick <= upto);
  if (!mine.length) return [h("h4", {}, "What changed since"), h("p", { class: "soft" }, "nothing that the log tells")];
  const list = (some) => h("ul", { class: "plainlist changes" }, some.map((one) => change(overview, one)));
  const earlier = mine.slice(0, -MOST_CHANGES);
  return [h("h4", {}, "What changed since"), list(mine.slice(-MOST_CHANGES).reverse()), earlier.length ? h("details", { class: "small" }, h("summary", {}, `${earlier.length} earlier`), list(earlier.reverse())) : null];
}

function change(overview, one) {
  const bare = (text) => text.replace(/[.!。]+$/, "");
  const about = { closeness: null, openness: one.what ? [", touching ", said(`“${bare(one.what)}”`)] : null, belief: [": ", said(`“${bare(one.what || "")}”`)], persona: [": ", said(one.what)] }[one.kind];
  return h("li", {}, h("b", {}, CHANGES[one.kind], one.kind === "closeness" ? [" ", said(one.what)] : null), ` ${number(one.before)} → ${number(one.after)}`,
    one.quote ? [" at the words ", said(`“${one.quote}”`)] : null, about ? h("span", { class: "soft" }, about) : null, one.why ? h("span", { class: "soft" }, ", because: ", said(one.why)) : null, " ",
    one.chat ? toTalk(overview, one.chat, one.message, `line ${one.message ?? "?"}, ${momentOf(overview, one.tick)}`) : h("button", { type: "button", class: "plain small", onclick: () => show({ panel: one.kind === "belief" ? "memory" : "person", tick: one.tick }) }, momentOf(overview, one.tick)));
}

/** The last that came to the person's mind before it. */
function minds(overview, recalls, memories, since, point) {
  const known = new Map(memories.map((one) => [one.id, one]));
  const last = recalls.filter((one) => one.tick > since && one.tick <= point.tick && one.hits.length).slice(-RECALLS).reverse();
  if (!last.length) return null;
  return [h("h4", {}, "What had come to mind"), last.map((one) => [
    h("p", { class: "small" }, h("button", { type: "button", class: "plain", onclick: () => show({ panel: "memory", recall: one.seq, tick: one.tick, who: point.who }) }, momentOf(overview, one.tick)), h("span", { class: "soft" }, ", at ", said(`“${one.query}”`))),
    h("ul", { class: "small" }, one.hits.slice(0, HITS).map((hit) => h("li", {}, said(known.get(hit.id)?.text || hit.id))))])];
}

/** The answers, those that differ from the time before marked. */
function items(scale, point, before) {
  if (!point.items.length) return null;
  const was = new Map((before?.items || []).map((one) => [one.id, one.value]));
  const reasons = point.items.some((one) => one.reason || one.quote);
  const label = (value) => scale.labels?.[String(value)] || scale.labels?.[String(Math.round(value))];
  return [h("h4", {}, "The answers, item by item"), h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "The answers" }, h("table", {}, h("thead", {}, h("tr", {}, ["Item", "Answer", before ? "Before" : null, reasons ? "Reason" : null].filter(Boolean).map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, point.items.map((one) => {
      const moved = was.has(one.id) && was.get(one.id) !== one.value;
      return h("tr", { class: moved ? "moved" : null }, h("th", { scope: "row" }, said(scale.items?.[one.id]?.text || one.id.replaceAll("_", " "))),
        h("td", {}, one.value === null ? h("span", { class: "soft" }, one.absent || "none") : [h("b", {}, number(one.value)), label(one.value) ? ` ${label(one.value)}` : ""]),
        before ? h("td", {}, was.has(one.id) && was.get(one.id) !== null ? [number(was.get(one.id)), moved ? h("span", { class: "hidden" }, ", changed") : null] : "") : null,
        !reasons ? null : h("td", {}, one.reason ? said(one.reason) : null, one.quote ? h("div", { class: "soft" }, said(`“${one.quote}”`)) : null));
    })))), reasons ? null : h("p", { class: "soft small" }, "No reasons were given with these answers.")];
}

/** The scores that followed a conversation, as a list that leads to each; null where none did. */
export function followed(overview, found, talk) {
  const first = new Map();
  for (const one of found.points) {
    const after = one.chats.length ? one.chats.includes(talk.chat) : one.tick >= talk.tick;
    if (!talk.who.includes(one.who) || !after || one.round > 1) continue;
    const key = `${one.who} ${one.instrument} ${one.respondent}`;
    if (!first.has(key)) first.set(key, one);
  }
  if (!first.size) return null;
  return h("section", { class: "card followed", id: "scores-that-followed", tabindex: "-1" }, h("h3", {}, "Scores that followed"), h("ul", { class: "plainlist" }, [...first.values()].map((one) => {
    const scale = found.scales[one.instrument];
    const score = one.scores[0];
    const before = found.points.findLast((other) => other.who === one.who && other.instrument === one.instrument && other.respondent === one.respondent && other.round === 1 && other.tick < one.tick)?.scores[0]?.value;
    const value = score?.value ?? null;
    return h("li", {}, h("button", { type: "button", class: "plain", onclick: () => show({ panel: "outcomes", point: keyOf(one), tick: one.tick, who: one.who }) }, said(`${scale.name} (${one.who})`)),
      `, ${pointName(overview, one)}: ${value === null ? "no value" : number(value)}${score?.band ? `, ${score.band}` : ""}${before === undefined || before === null ? "" : ` (${number(before)} before)`}`, h("span", { class: "soft small" }, `; ${RESPONDENTS[one.respondent]}, ${momentOf(overview, one.tick)}`));
  })));
}
