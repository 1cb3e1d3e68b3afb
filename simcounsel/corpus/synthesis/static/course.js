// How a session runs, as a picture: stages from top to bottom, lines from left to right.

import { Plot, chart, svg } from "./chart.js";
import { h, visible } from "./dom.js";
import { words } from "./sessionlist.js";

const [ROW, TOP, FOOT] = [22, 6, 20];
const [NARROW, BESIDE] = [460, 9];

/** A dot where the client told something of a stage; below, the counselor's lines, other ones where one was revised. */
export function drawCourse(session, stages) {
  return h("figure", { class: "course" }, chart((width) => picture(session, stages, width)), legend());
}

function picture(session, stages, width) {
  const [left, right] = width < NARROW ? [96, 48] : [116, 60];
  const names = [...stages.map(words), "counselor"];
  const count = Math.max(2, session.messages ?? 0, ...session.turns.map((turn) => turn.message));
  const facts = session.facts || [];
  const told = facts.filter((fact) => fact.told);
  const drafts = session.turns.filter((turn) => turn.who === "counselor");
  const revised = drafts.filter((turn) => turn.revised);
  const per = (count - 1) / Math.max(1, width - left - right); // lines to a px
  const line = (turn) => `line ${turn.message}: ${turn.revised ? "revised" : "said as drafted"}`;
  const share = names.map((name, index) => ({ name, text: index < stages.length ? `${told.filter((fact) => fact.stage === stages[index]).length} of ${facts.filter((fact) => fact.stage === stages[index]).length}` : `${revised.length} of ${drafts.length}` }));
  return svg({
    width, height: TOP + names.length * ROW + FOOT, marginLeft: left, marginRight: right, marginTop: TOP, marginBottom: FOOT, ariaLabel: visible(inWords(session, told, revised.length, drafts.length)),
    x: { domain: [0.5, count + 0.5], ticks: numbers(count), tickFormat: String, tickSize: 0, label: null }, y: { domain: names, label: null, tickSize: 0, padding: 0 },
    marks: [
      Plot.ruleY(names, { stroke: "var(--line)" }),
      Plot.text(share, { frameAnchor: "right", y: "name", dx: right - 6, textAnchor: "end", text: "text", fill: "var(--soft)" }),
      Plot.dot(told, { x: (fact) => fact.told + beside(fact, told) * per, y: (fact) => words(fact.stage), r: 5, fill: "var(--accent)", className: "told", title: (fact) => visible(`line ${fact.told}: ${fact.text}`) }),
      Plot.dot(revised, { x: "message", y: () => "counselor", r: 5, symbol: "diamond", fill: "var(--focus)", className: "mended", title: line }),
      Plot.dot(drafts.filter((turn) => !turn.revised), { x: "message", y: () => "counselor", r: 4, stroke: "var(--soft)", strokeWidth: 1.4, className: "kept", title: line }),
    ],
  });
}

/** The lines that are numbered below. */
function numbers(count) {
  const every = count > 16 ? 5 : 2;
  return Array.from({ length: count }, (_, index) => index + 1).filter((number) => number === 1 || number % every === 0);
}

/** Facts of one stage that are told in one line stand beside each other: by so many px. */
function beside(fact, told) {
  const same = told.filter((one) => one.told === fact.told && one.stage === fact.stage);
  return (same.indexOf(fact) - (same.length - 1) / 2) * BESIDE;
}

function inWords(session, told, revised, drafts) {
  const facts = session.facts === null ? "The client's file is not known" : `${told.length} of ${session.facts.length} facts told`;
  return `${facts}${told.length ? `: ${told.map((fact) => `${words(fact.stage)} in line ${fact.told}`).join(", ")}` : ""}; ${revised} of ${drafts} counselor lines revised`;
}

function legend() {
  const sign = (kind, text) => h("span", { class: kind, "aria-hidden": "true" }, text);
  return h("figcaption", { class: "soft small legend" }, h("span", {}, sign("told", "●"), " the client tells a fact of this stage"), h("span", {}, sign("mended", "◆"), " a counselor's line was revised"), h("span", {}, sign("kept", "○"), " said as drafted"));
}
