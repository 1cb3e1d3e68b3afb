// A line and how it came about: what was thought, drafted, criticized, revised; behind it the prompts.

import { request } from "./call.js";
import { fill, h, said } from "./dom.js";
import { words } from "./sessionlist.js";
import { sides } from "./words.js";

/** A line of a session. known: texts of strategies by id; behind: makes the details that hold the prompts of a line. */
export function drawTurn(turn, session, found, known, behind) {
  const number = h("a", { class: "soft small number", href: `#${session.session}:${turn.message}` }, `${turn.message} · ${turn.who}`);
  const parts = turn.who === "client" ? clients(turn, session) : counselors(turn, found, known);
  return h("li", { class: turn.who, "data-message": turn.message }, number, parts, behind(String(turn.message), `Line ${turn.message}`));
}

function clients(turn, session) {
  const told = (session.facts || []).filter((fact) => turn.facts.includes(fact.id));
  return [h("div", { class: "line" }, said(turn.text)),
    h("div", { class: "beside soft small" }, said(words(turn.stage)), told.length ? [" · tells ", told.map((fact, index) => [index ? ", " : "", h("abbr", { title: fact.text }, fact.id)])] : turn.facts.length ? ` · tells ${turn.facts.join(", ")}` : " · tells nothing new", ` · ${turn.author}`)];
}

function counselors(turn, found, known) {
  const thought = turn.reasoning ? h("div", { class: "beside soft small" }, "thinks: ", said(turn.reasoning)) : null;
  const kind = h("div", { class: "beside soft small" }, said(words(turn.stage)), " · ", said(words(turn.skill)),
    turn.strategies.length ? [" · follows ", turn.strategies.map((id, index) => [index ? ", " : "", h("a", { href: `#${id}`, title: known.get(id) }, id)])] : "", ` · ${turn.author}`);
  if (turn.judged?.revise || turn.revised) return [thought, loop(turn, found), kind];
  return [thought, h("div", { class: "line" }, said(turn.text)), kind,
    turn.judged ? h("details", { class: "beside small" }, h("summary", { class: "soft" }, judgment(turn.judged)), bars(turn.judged.ratings)) : null];
}

/** Draft, critique and revision, one below the other, with what goes and what is new. */
function loop(turn, found) {
  const [before, after] = turn.revised ? sides(turn.text, turn.revised.text) : [said(turn.text), null];
  return h("div", { class: "loop" },
    h("div", {}, h("h4", {}, turn.revised ? "Draft" : "Draft, and what was said"), before),
    turn.judged ? h("div", {}, h("h4", {}, "Critique", h("span", { class: "least" }, least(turn.judged))), said(turn.judged.advice, "p", { class: "advice" }), h("details", { class: "small" }, h("summary", { class: "soft" }, judgment(turn.judged, "")), bars(turn.judged.ratings))) : null,
    h("div", {}, h("h4", {}, turn.revised ? "Revision, as it was said" : "No revision"),
      after || h("p", { class: "soft small" }, found.without.includes("corrector") ? "The corrector takes no part in this synthesis: the draft was said." : "The corrector gave no usable line: the draft was said.")));
}

const valued = (judged) => judged.ratings.filter((one) => one.value !== null);

/** The qualities that are worst off, when not all are alike. */
function least(judged) {
  const values = valued(judged);
  const low = Math.min(...values.map((one) => one.value));
  const worst = values.filter((one) => one.value === low);
  return worst.length && worst.length < 4 ? `, least: ${worst.map((one) => `${one.quality} ${one.value}`).join(", ")}` : "";
}

function judgment(judged, low = least(judged)) {
  const values = valued(judged).map((one) => one.value);
  if (!values.length) return "not judged: the evaluator gave no usable answer";
  const mean = (values.reduce((a, b) => a + b, 0) / values.length).toFixed(1);
  return `judged ${mean} of 10${low}${judged.go_on ? "" : "; nothing more is needed"}`;
}

/** A bar for each quality. */
export function bars(ratings) {
  return h("div", { class: "bars" }, ratings.map((one) => [
    h("span", {}, one.quality),
    h("span", { class: "bar", "aria-hidden": "true" }, h("svg", { viewBox: "0 0 10 1", preserveAspectRatio: "none" }, h("rect", { class: one.value <= 4 ? "poor" : "good", width: one.value ?? 0, height: 1 }))),
    h("span", {}, one.value === null ? "–" : Number.isInteger(one.value) ? one.value : one.value.toFixed(1))]));
}

/** Makes details elements that get their prompts when they are first opened. */
export function loader(prompts) {
  return (part, about) => {
    const inside = h("div", {}, h("p", { class: "soft" }, "…"));
    const details = h("details", { class: "asked small" }, h("summary", { class: "soft" }, "prompts and replies"), inside);
    details.addEventListener("toggle", () => show(inside, prompts, part, about), { once: true });
    return details;
  };
}

async function show(inside, prompts, part, about) {
  try {
    const { requests } = await prompts();
    const calls = requests[part] || [];
    const none = "No request in this run's records: it was answered from a recording that is not there, or calls.jsonl is gone.";
    fill(inside, calls.length ? calls.map((call) => request(call, calls.length === 1, `${about}, ${call.purpose}:`)) : h("p", { class: "soft" }, none));
  } catch (error) {
    fill(inside, h("p", { class: "warn" }, error.message));
  }
}
