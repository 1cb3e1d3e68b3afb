// How a session runs, as a picture: stages from top to bottom, lines from left to right.

import { h } from "./dom.js";
import { words } from "./sessionlist.js";

const NARROW = matchMedia("(max-width: 760px)");

/** A dot where the client told something of a stage; below, the counselor's lines, filled where one was revised. Drawn anew when the window becomes narrow. */
export function drawCourse(session, stages) {
  const figure = h("figure", { class: "course" }, picture(session, stages, NARROW.matches), legend());
  const again = () => {
    if (figure.isConnected) figure.firstChild.replaceWith(picture(session, stages, NARROW.matches));
    else NARROW.removeEventListener("change", again);
  };
  NARROW.addEventListener("change", again);
  return figure;
}

function picture(session, stages, narrow) {
  const [left, right, row, top, width] = narrow ? [96, 44, 20, 6, 360] : [110, 56, 20, 6, 620];
  const rows = stages.length + 1;
  const count = Math.max(2, session.messages ?? 0, ...session.turns.map((turn) => turn.message));
  const x = (message) => left + ((message - 0.5) / count) * (width - left - right);
  const y = (index) => top + index * row + row / 2;
  const facts = session.facts || [];
  const told = facts.filter((fact) => fact.told);
  const drafts = session.turns.filter((turn) => turn.who === "counselor");
  const revised = drafts.filter((turn) => turn.revised).length;
  const every = count > 16 ? 5 : 2;
  return h("svg", { viewBox: `0 0 ${width} ${top + rows * row + 16}`, role: "img", "aria-label": inWords(session, told, revised, drafts.length) },
    [...stages.map(words), "counselor"].map((name, index) => [
      h("line", { class: "grid", x1: left, x2: width - right, y1: y(index), y2: y(index) }), h("text", { x: left - 8, y: y(index) + 4, "text-anchor": "end" }, name),
      h("text", { x: width - right + 6, y: y(index) + 4 }, index < stages.length ? `${told.filter((fact) => fact.stage === stages[index]).length} of ${facts.filter((fact) => fact.stage === stages[index]).length}` : `${revised} of ${drafts.length}`)]),
    told.map((fact) => dot("told", x(fact.told) + beside(fact, told), y(stages.indexOf(fact.stage)), 5, `line ${fact.told}: ${fact.text}`)),
    drafts.map((turn) => dot(turn.revised ? "mended" : "kept", x(turn.message), y(rows - 1), 4.5, `line ${turn.message}: ${turn.revised ? "revised" : "said as drafted"}`)),
    Array.from({ length: count }, (_, index) => index + 1).filter((number) => number === 1 || number % every === 0)
      .map((number) => h("text", { x: x(number), y: top + rows * row + 12, "text-anchor": "middle" }, number)));
}

const dot = (kind, cx, cy, r, title) => h("circle", { class: kind, cx, cy, r }, h("title", {}, title));

/** Facts of one stage that are told in one line stand beside each other. */
function beside(fact, told) {
  const same = told.filter((one) => one.told === fact.told && one.stage === fact.stage);
  return (same.indexOf(fact) - (same.length - 1) / 2) * 9;
}

function inWords(session, told, revised, drafts) {
  const facts = session.facts === null ? "The client's file is not known" : `${told.length} of ${session.facts.length} facts told`;
  return `${facts}${told.length ? `: ${told.map((fact) => `${words(fact.stage)} in line ${fact.told}`).join(", ")}` : ""}; ${revised} of ${drafts} counselor lines revised`;
}

function legend() {
  const sign = (kind) => h("svg", { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" }, h("circle", { class: kind, cx: 6, cy: 6, r: 4.5 }));
  return h("figcaption", { class: "soft small legend" }, h("span", {}, sign("told"), " the client tells a fact of this stage"), h("span", {}, sign("mended"), " a counselor's line was revised"), h("span", {}, sign("kept"), " said as drafted"));
}
