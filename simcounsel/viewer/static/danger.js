// Danger has its place: a strip on a run's page that says when it was heard, from whom, what was done then, and what is still open.

import { Plot, chart, pressable, svg } from "./chart.js";
import { momentOf } from "./clock.js";
import { h, said, visible } from "./dom.js";
import { show } from "./state.js";
import { timeAxis } from "./timeaxis.js";

export const LEVELS = { none: "no danger", low: "danger: low", high: "danger: high", imminent: "danger: imminent" };
export const BY = { words: "words", classifier: "a classifier", model: "a model", questionnaire: "a questionnaire" };
const KINDS = { suicide: "suicide", self_harm: "self-harm", harm_to_others: "harm to others", abuse: "abuse" };
const LEVEL_NAMES = ["low", "high", "imminent"];
const [ROW, TOP, FOOT, RIGHT] = [26, 4, 24, 14];
const LETTER_PX = 6.5;
const MOST_NAME = 22; // letters of a name at the side

/** Kinds of danger in words. */
export const kindsText = (kinds) => kinds.map((kind) => KINDS[kind] || kind).join(", ");

/** The strip of an overview; null where no danger was heard. */
export function dangerStrip(overview) {
  const ends = overview.open_ends || [];
  const { heard = [], steps = {} } = overview.dangers || {};
  if (!ends.length && !heard.length) return null;
  const times = (count) => (count === 1 ? "once" : `${count} times`);
  return h("section", { class: `danger-strip${ends.length ? " warn" : ""}`, "aria-label": "Danger" },
    h("p", {}, h("b", {}, ends.length ? `Danger was left open ${times(ends.length)}` : "No danger is left open"), heard.length ? `; it was heard ${times(heard.length)}.` : "."),
    ends.length ? h("ul", { tabindex: "0", "aria-label": "What is open" }, ends.map((one) => h("li", {}, goTo(one, said(one.who.join(" and ")), `, ${momentOf(overview, one.tick)}`), `: ${one.danger}; ${one.since}`))) : null,
    heard.length ? h("details", {}, h("summary", {}, "When it was heard, and what was done"), picture(overview, heard), h("ol", { class: "heard", tabindex: "0", "aria-label": "Danger that was heard" }, heard.map((one) => entry(overview, one, steps)))) : null);
}

const goTo = (one, ...words) => h("button", { type: "button", class: "plain", onclick: () => press(one) }, words);
const press = ({ chat, message, tick, who }) => show({ panel: chat ? "talks" : "outcomes", chat: chat || undefined, line: message ?? undefined, tick, who: Array.isArray(who) ? who[0] : who });

function entry(overview, one, steps) {
  const [taken, later] = stepsAfter(overview, one, steps);
  const words = one.evidence.length ? [": ", said(one.evidence.map((text) => `“${text}”`).join(", "))] : null;
  return h("li", {}, goTo(one, `${momentOf(overview, one.tick)}, `, said(one.who)), " ", h("span", { class: `danger danger-${one.level}` }, LEVELS[one.level] || one.level), ` ${kindsText(one.kinds)}, judged by ${BY[one.by] || one.by}`, words,
    h("div", { class: "soft small" }, taken.length ? [`${taken[0].who}${later ? ", in the next conversation" : ""}: `, taken.map((step) => step.state.replaceAll("_", " ")).join(" → ")] : one.chat ? "no step of the safety protocol in this conversation" : "told in a questionnaire, and no step of the safety protocol since"));
}

/** What was done in the conversation in which it was heard, or in the next one in which anything was done where it was told in a questionnaire: [steps, whether later]. */
function stepsAfter(overview, one, steps) {
  if (one.chat) return [steps[one.chat] || [], false];
  const next = overview.talks.find((talk) => talk.tick > one.tick && talk.who.includes(one.who) && steps[talk.chat]);
  return [next ? steps[next.chat] : [], true];
}

/** When, from whom, how near: a row for each person. */
function picture(overview, heard) {
  const names = [...new Set(heard.map((one) => one.who))];
  const [from, to] = [overview.first_minute, overview.first_minute + overview.ticks * overview.tick_minutes];
  const short = (name) => visible(name.length > MOST_NAME ? `${name.slice(0, MOST_NAME)}…` : name);
  const left = Math.max(...names.map((name) => short(name).length)) * LETTER_PX + 12;
  const words = (one) => `${momentOf(overview, one.tick)}, ${one.who}: ${LEVELS[one.level] || one.level}, ${kindsText(one.kinds)}`;
  const level = (one) => LEVEL_NAMES.indexOf(one.level);
  return chart((width) => pressable(svg({
    width, height: TOP + names.length * ROW + FOOT, marginLeft: left, marginRight: RIGHT, marginTop: TOP, marginBottom: FOOT, ariaLabel: visible(heard.map(words).join("; ")),
    x: timeAxis(overview, from, to, width - left - RIGHT), y: { domain: names, tickFormat: short, label: null, tickSize: 0 }, r: { type: "identity" },
    marks: [Plot.ruleY(names, { stroke: "var(--line)" }), Plot.dot(heard, { x: (one) => from + one.tick * overview.tick_minutes, y: "who", r: (one) => 4 + 2 * level(one), fill: (one) => (level(one) > 0 ? "var(--warn)" : "var(--sheet)"), stroke: "var(--warn)", strokeWidth: 2, className: "heard-mark" })],
  }), ".heard-mark > *", (index) => words(heard[index]), (index) => press(heard[index])));
}
