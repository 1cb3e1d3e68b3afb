// One session: how the client opens up, what was said, how each line came about, what was learned from it.

import { drawCourse } from "./course.js";
import { h, said } from "./dom.js";
import { bars, drawTurn, loader } from "./loop.js";
import { words } from "./sessionlist.js";

const ENDED = { resolved: "the evaluator found that nothing more is needed", disclosed: "all was told, and nobody evaluates", limit: "the turn limit came" };
const PART = { character: "who", plight: "what", demand: "how" };
const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;

/** found: the overview. prompts: gets the requests behind this session, once somebody wants to see them. */
export function drawSession(session, found, prompts) {
  const known = new Map(found.strategies.map((one) => [one.id, one.text]));
  const behind = loader(prompts);
  return [
    h("h2", {}, `${session.session}: `, said(words(session.theme) || "theme unknown")),
    h("p", { class: "soft small" }, `wave ${session.wave}`, session.situation ? [", situation ", said(session.situation)] : "", session.cause ? `; ended because ${ENDED[session.cause] || session.cause}` : ""),
    session.facts === null ? h("p", { class: "warn" }, "The log lost the beginning of this session: its theme and the client's file are not known.") : null,
    session.cause === null ? h("p", { class: "warn" }, "The log lost the end of this session.") : null,
    session.warnings.map((warning) => h("p", { class: "warn small" }, said(`${warning.purpose}: ${warning.cause}`), "; the fallback was taken")),
    h("p", {}, summed(session)),
    h("div", { class: "glance" }, h("section", {}, h("h3", {}, "How it opens up"), drawCourse(session, found.stages)), means(session)),
    session.facts === null ? null : file(session, behind),
    carried(session, known),
    h("h3", {}, "What was said"), h("ol", { class: "turns" }, session.turns.map((turn) => drawTurn(turn, session, found, known, behind))),
    learned(session, behind),
    h("section", {}, h("h3", {}, "Other requests"), h("p", { class: "soft small" }, "Requests of this session that no event names."), behind("other", "Other requests")),
  ];
}

/** The session in a sentence. */
function summed(session) {
  const drafts = session.turns.filter((turn) => turn.who === "counselor");
  const revised = drafts.filter((turn) => turn.revised).length;
  const facts = session.facts || [];
  const fresh = session.learned.filter((one) => one.new).length;
  return [
    session.facts === null ? null : `${facts.filter((fact) => fact.told).length} of ${facts.length} facts told in ${plural(session.turns.length, "line", "lines")}`,
    `${revised} of ${plural(drafts.length, "counselor line", "counselor lines")} revised`,
    fresh ? `${plural(fresh, "strategy", "strategies")} learned` : session.learned.length ? "strategies found again" : "nothing new learned",
  ].filter(Boolean).join("; ") + ".";
}

function means(session) {
  const rated = Object.entries(session.mean_ratings).map(([quality, value]) => ({ quality, value }));
  if (rated.every((one) => one.value === null)) return null;
  return h("section", {}, h("h3", {}, "How its drafts were judged"), bars(rated), h("p", { class: "soft small" }, "means of 1 to 10, before any revision; no clinician has rated these"));
}

/** What was typed in, and the extractor's file of it. */
function file(session, behind) {
  return h("details", {}, h("summary", {}, "The situation and the client's file"),
    session.text ? h("p", { class: "card" }, said(session.text)) : null,
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "File" }, h("table", { class: "file small" },
      h("thead", {}, h("tr", {}, ["Part", "Stage", "Fact", "Told"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, session.facts.map((fact) => h("tr", {}, h("td", {}, PART[fact.of]), h("td", {}, words(fact.stage)),
        h("td", {}, h("span", { class: "soft" }, `${fact.id} `), said(fact.text), " ", fact.invented ? h("span", { class: "tag made" }, "invented") : null),
        h("td", {}, fact.told ? h("a", { href: `#${session.session}:${fact.told}` }, `line ${fact.told}`) : h("span", { class: "soft" }, "never"))))))),
    behind("extract", "The file"));
}

function carried(session, known) {
  if (!session.strategies.length) return session.facts === null ? null : h("p", { class: "soft" }, "The counselor carries no strategies into this session.");
  return h("details", {}, h("summary", {}, `The counselor carries ${plural(session.strategies.length, "strategy", "strategies")} into it`),
    h("ul", {}, session.strategies.map((id) => h("li", {}, h("a", { href: `#${id}` }, id), " ", said(known.get(id) ?? "(not in this log)")))));
}

function learned(session, behind) {
  const advice = session.turns.some((turn) => turn.judged?.revise);
  if (!session.learned.length && !advice) return null;
  return h("section", {}, h("h3", {}, "What was learned from it"),
    session.learned.length ? h("ul", {}, session.learned.map((one) => h("li", {}, said(one.text), " ", h("a", { class: "tag", href: `#${one.id}` }, one.new ? `new: ${one.id}` : `known as ${one.id}`)))) : h("p", { class: "soft" }, "No strategy was made of the evaluator's advice."),
    behind("distil", "What was learned"));
}
