// The page of a synthesis: its sessions, each with what was drafted, criticized and revised, and the strategies that were learned.

import { announce, fill, h, said } from "./dom.js";
import { bundled, forget, get, path } from "./source.js";
import { marked } from "./words.js";

const POLL_MS = 2000;
const ENDED = { resolved: "the evaluator found that nothing more is needed", told: "all was told, and nobody evaluates", limit: "the turn limit came" };
const PART = { character: "who", plight: "what", demand: "how" };
const words = (name) => String(name ?? "").replaceAll("_", " ");

const run = bundled ? null : decodeURIComponent(location.pathname.split("/").pop());
const main = document.getElementById("main");
const view = { tab: "session", session: null, theme: "", revised: false };
let found = null;
let list = null;
let panel = null;

start().catch((error) => fill(main, h("p", { class: "page warn", role: "alert" }, error.message)));

async function start() {
  found = await get(run, "sessions");
  document.title = `${found.name || found.run}: simcounsel`;
  read();
  list = h("nav", { class: "shelf", "aria-label": "Sessions" });
  panel = h("section", { id: "panel", tabindex: "-1", "aria-label": "What is shown" });
  fill(main, found.problems.map((one) => h("p", { class: "warn" }, one)), h("div", { class: "desk" }, list, panel));
  window.addEventListener("hashchange", () => { read(); draw(); });
  document.addEventListener("keydown", keys);
  await draw();
  if (!bundled) setInterval(follow, POLL_MS);
}

/** The address says what is shown: #S0003, or #strategies. */
function read() {
  const asked = decodeURIComponent(location.hash.slice(1));
  view.tab = asked === "strategies" ? "strategies" : "session";
  if (found.sessions.some((one) => one.session === asked)) view.session = asked;
  view.session ??= found.sessions[0]?.session ?? null;
}

async function follow() {
  const now = await fetch(`/api/runs/${encodeURIComponent(run)}/size`).then((reply) => reply.json(), () => null);
  if (!now || now.size === found.size) return;
  forget();
  found = await get(run, "sessions");
  view.session ??= found.sessions[0]?.session ?? null;
  const [at, where] = [list.scrollTop, window.scrollY];
  await draw();
  list.scrollTop = at;
  window.scrollTo(0, where);
}

function keys(event) {
  if (event.target.closest("input, select, textarea, [role=tab]") || event.altKey || event.ctrlKey || event.metaKey) return;
  const step = { j: 1, k: -1 }[event.key];
  if (step) go(step);
}

function go(step) {
  const names = shown().map((one) => one.session);
  const next = names[names.indexOf(view.session) + step];
  if (next) location.hash = next;
}

const shown = () => found.sessions.filter((one) => (!view.theme || one.theme === view.theme) && (!view.revised || one.revised));

async function draw() {
  drawHead();
  drawList();
  try {
    await (view.tab === "strategies" ? drawStrategies() : drawSession());
  } catch (error) {
    fill(panel, tabs(), h("p", { class: "warn", role: "alert" }, error.message));
  }
}

function drawHead() {
  const drafts = found.sessions.reduce((sum, one) => sum + one.drafts, 0);
  const revised = found.sessions.reduce((sum, one) => sum + one.revised, 0);
  const models = [...new Set(Object.values(found.roles))];
  const roles = models.length === 1 ? `all roles: ${models[0]}` : Object.entries(found.roles).map(([role, name]) => `${role}: ${name}`).join(", ");
  fill(document.getElementById("head"),
    h("p", { class: "soft small beside-title" }, "Simulated people. A research tool, not care; no evidence about people."),
    h("h1", {}, bundled ? null : [h("a", { href: "/" }, "Runs"), " / "], said(found.name || found.run)),
    h("p", { class: "soft small" }, `a synthesis of dialogues, ${roles}`, found.without.length ? `; without ${found.without.join(", ")}` : "", found.parent ? `; forked from ${found.parent}` : ""),
    h("p", { class: "small" }, `${found.sessions.length} of ${found.sessions_planned} sessions in ${found.waves} of ${found.waves_planned} waves · `,
      drafts ? `${revised} of ${drafts} counselor lines revised (${(100 * revised / drafts).toFixed(1)} %) · ` : "",
      `${found.strategies.length} strategies`, found.warnings ? ` · ${found.warnings} warnings` : ""));
}

function drawList() {
  const themes = [...new Set(found.sessions.map((one) => one.theme))].sort();
  const choose = h("select", { "aria-label": "Theme", onchange: (event) => { view.theme = event.target.value; drawList(); } },
    h("option", { value: "" }, "all themes"), themes.map((theme) => h("option", { value: theme, selected: theme === view.theme }, words(theme))));
  const only = h("label", { class: "small" }, h("input", { type: "checkbox", checked: view.revised, onchange: (event) => { view.revised = event.target.checked; drawList(); } }), " revised only");
  const sessions = shown();
  fill(list, h("div", { class: "row" }, choose, only),
    sessions.length ? h("ol", {}, sessions.map(one)) : h("p", { class: "soft" }, found.sessions.length ? "No session like that." : "No wave is complete yet."));
}

function one(session) {
  const open = () => { location.hash = session.session; };
  const about = `${session.messages} lines${session.revised ? `, ${session.revised} revised` : ""}`;
  return h("li", {}, h("button", { type: "button", class: "one", "aria-current": view.tab === "session" && session.session === view.session ? "true" : null, onclick: open },
    h("strong", {}, session.session), " ", words(session.theme), h("div", { class: "soft small" }, `wave ${session.wave} · ${about}`)));
}

function tabs() {
  const tab = (name, label, to) => h("button", { type: "button", role: "tab", "aria-selected": view.tab === name ? "true" : "false", onclick: () => { location.hash = to; } }, label);
  return h("div", { role: "tablist", "aria-label": "What to look at" }, tab("session", "Session", view.session || ""), tab("strategies", `Strategies (${found.strategies.length})`, "strategies"));
}

async function drawSession() {
  if (!view.session) return fill(panel, tabs(), h("p", {}, "Nothing is written yet."));
  const session = await get(run, path("session", view.session));
  announce(`${session.session}, ${words(session.theme)}`);
  return fill(panel, tabs(),
    h("h2", {}, `${session.session}: ${words(session.theme)}`),
    h("p", { class: "soft small" }, `wave ${session.wave}, situation ${session.situation}; ended because ${ENDED[session.cause] || "?"}`),
    h("p", { class: "row" }, h("button", { type: "button", onclick: () => go(-1) }, "Before"), h("button", { type: "button", onclick: () => go(1) }, "Next"), h("span", { class: "soft small" }, "or keys k and j")),
    session.warnings.map((warning) => h("p", { class: "warn small" }, `${warning.purpose}: ${warning.cause}; the fallback was taken`)),
    h("h3", {}, "How it opens up"), course(session), file(session),
    h("h3", {}, "What was said"), h("ol", { class: "turns" }, session.turns.map((turn) => said_by(turn, session))),
    session.learned.length ? [h("h3", {}, "What was learned from it"), h("ul", {}, session.learned.map((one) => h("li", {}, said(one.text), " ", h("span", { class: "tag" }, one.new ? `new: ${one.id}` : `known: ${one.id}`))))] : null);
}

/** What was typed in, and the extractor's file of it. */
function file(session) {
  return h("details", {}, h("summary", {}, "The situation and the seeker's file"),
    session.text ? h("p", { class: "card" }, said(session.text)) : null,
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "File" }, h("table", { class: "file small" },
      h("thead", {}, h("tr", {}, ["Part", "Stage", "Fact", "Told"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, session.facts.map((fact) => h("tr", {}, h("td", {}, PART[fact.of]), h("td", {}, words(fact.stage)),
        h("td", {}, said(fact.text), " ", fact.invented ? h("span", { class: "tag made" }, "invented") : null),
        h("td", {}, fact.told ? `line ${fact.told}` : h("span", { class: "soft" }, "never"))))))));
}

/** Lines from left to right; a row a stage, a dot where something was told; below, the counselor's lines, filled where one was revised. */
function course(session) {
  const [left, row, top] = [110, 18, 8];
  const width = 640;
  const rows = found.stages.length + 1;
  const count = Math.max(2, session.turns.length);
  const x = (message) => left + ((message - 0.5) / count) * (width - left - 8);
  const y = (index) => top + index * row + row / 2;
  const told = session.facts.filter((fact) => fact.told);
  const revised = session.turns.filter((turn) => turn.revised).length;
  const label = `${told.length} of ${session.facts.length} facts told; ${told.map((fact) => `${words(fact.stage)} in line ${fact.told}`).join(", ")}; ${revised} counselor lines revised`;
  return h("svg", { class: "course", viewBox: `0 0 ${width} ${top + rows * row + 16}`, role: "img", "aria-label": label },
    [...found.stages.map(words), "counselor"].map((name, index) => [h("line", { class: "grid", x1: left, x2: width - 8, y1: y(index), y2: y(index) }), h("text", { x: left - 8, y: y(index) + 4, "text-anchor": "end" }, name)]),
    told.map((fact) => h("circle", { class: "told", cx: x(fact.told), cy: y(found.stages.indexOf(fact.stage)), r: 5 }, h("title", {}, fact.text))),
    session.turns.filter((turn) => turn.who === "counselor").map((turn) => h("circle", { class: turn.revised ? "mended" : "kept", cx: x(turn.message), cy: y(rows - 1), r: 4 }, h("title", {}, turn.revised ? "revised" : "as drafted"))),
    session.turns.filter((turn) => turn.message === 1 || turn.message % 5 === 0).map((turn) => h("text", { x: x(turn.message), y: top + rows * row + 12, "text-anchor": "middle" }, turn.message)));
}

function said_by(turn, session) {
  const number = h("span", { class: "soft small" }, `${turn.message} · ${turn.who}`);
  if (turn.who === "client") {
    const told = session.facts.filter((fact) => turn.facts.includes(fact.id));
    return h("li", { class: "client" }, number, h("div", { class: "line" }, said(turn.text)),
      h("div", { class: "beside soft small" }, words(turn.stage), told.length ? ` · tells ${told.map((fact) => fact.id).join(", ")}` : " · tells nothing new", ` · ${turn.source}`));
  }
  const kind = h("div", { class: "beside soft small" }, `${turn.stage} · ${turn.skill}`, turn.strategies.length ? ` · follows ${turn.strategies.join(", ")}` : "", ` · ${(turn.revised || turn).source}`);
  const thought = turn.reasoning ? h("div", { class: "beside soft small" }, "thinks: ", said(turn.reasoning)) : null;
  if (!turn.revised) {
    return h("li", { class: "counselor" }, number, h("div", { class: "line" }, said(turn.text)), kind,
      h("div", { class: "beside small" }, turn.judged ? h("details", {}, h("summary", { class: "soft" }, judgment(turn.judged)), turn.judged.revise ? h("p", {}, said(turn.judged.advice)) : null, bars(turn.judged)) : null), thought);
  }
  return h("li", { class: "counselor" }, number, h("div", { class: "loop" },
    h("div", {}, h("h4", {}, "Draft"), said(turn.text)),
    h("div", {}, h("h4", {}, "Critique"), said(turn.judged.advice, "p", { class: "advice" }), h("details", { class: "small" }, h("summary", { class: "soft" }, "nine qualities"), bars(turn.judged))),
    h("div", {}, h("h4", {}, "Revision"), marked(turn.text, turn.revised.text))), kind, thought);
}

function judgment(judged) {
  const values = judged.ratings.map((one) => one.value).filter((value) => value !== null);
  if (!values.length) return "not judged: the evaluator gave no usable answer";
  const least = judged.ratings.reduce((low, one) => (one.value !== null && (low === null || one.value < low.value) ? one : low), null);
  return `judged ${(values.reduce((a, b) => a + b, 0) / values.length).toFixed(1)} of 10, least ${least.quality} ${least.value}${judged.revise ? "; to be revised" : ""}${judged.go_on ? "" : "; nothing more is needed"}`;
}

function bars(judged) {
  return h("div", { class: "bars" }, judged.ratings.map((one) => [
    h("span", {}, one.quality),
    h("span", { class: "bar", "aria-hidden": "true" }, h("svg", { viewBox: "0 0 10 1", preserveAspectRatio: "none" }, h("rect", { class: one.value <= 4 ? "poor" : "good", width: one.value ?? 0, height: 1 }))),
    h("span", {}, one.value ?? "–")]));
}

async function drawStrategies() {
  announce(`${found.strategies.length} strategies`);
  const jump = (name) => h("a", { href: `#${name}` }, name);
  fill(panel, tabs(), h("h2", {}, "What the counselor has learned"),
    h("p", { class: "soft" }, "After each session the manager makes strategies of what the evaluator asked for; the counselor carries them from the next wave on."),
    found.strategies.length ? h("ol", { class: "learned" }, found.strategies.map((one) => h("li", {},
      h("div", {}, h("span", { class: "tag" }, one.id), " ", said(one.text), one.dropped === null ? null : [" ", h("span", { class: "tag made" }, `dropped before wave ${one.dropped}`)]),
      h("div", { class: "soft small" }, one.session ? [`wave ${one.wave}, from `, jump(one.session)] : "given from the beginning",
        one.found.length ? [`; found again in `, one.found.map((again, index) => [index ? ", " : "", jump(again.session), ` (cosine ${again.cosine.toFixed(2)})`])] : null),
      one.advice.length ? h("details", { class: "small" }, h("summary", { class: "soft" }, "the suggestions it comes from"), h("ul", {}, one.advice.map((text) => h("li", {}, said(text))))) : null)))
      : h("p", {}, found.without.length ? "None: a role that makes them does not take part." : "None yet."));
}
