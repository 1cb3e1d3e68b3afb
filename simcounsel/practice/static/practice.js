// The pages of a practice folder: a trainee's sessions, one session with its feedback, its report; and the supervisor's view of all.

import { announce, fill, h, said } from "./dom.js";

const token = location.pathname.split("/").pop();
const main = document.getElementById("main");
const EVERY_MS = 1000;
const MODES = ["line", "request", "end", "none"];
const CHARTS = ["open", "closed", "reflections", "advice", "talk_share", "longest"];
let home = null; // what the site says of this person
let session = null; // the session that is open
let timer = 0;
let warned = null; // what is told where the trainee's own words sound like danger

const t = (key, slots = {}) => (home?.texts[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => slots[name] ?? "");
const number = (value) => (value === null || value === undefined ? "–" : String(Math.round(value * 100) / 100));
const shelf = (id) => `practice:${token}:${id}`;

function kept(id) {
  try {
    return JSON.parse(localStorage.getItem(shelf(id)) || "{}");
  } catch {
    return {};
  }
}

function keep(id, what) {
  try {
    localStorage.setItem(shelf(id), JSON.stringify({ ...kept(id), ...what }));
  } catch { /* a browser that keeps nothing */ }
}

/** What the site answers; {error} where it refuses, {lost: true} where it does not answer. */
async function call(body, query = "") {
  try {
    const options = body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const reply = await fetch(`/api/${token}${query}`, options);
    const text = await reply.text();
    try {
      return JSON.parse(text);
    } catch {
      return { error: text };
    }
  } catch {
    return { lost: true };
  }
}

async function showHome() {
  clearTimeout(timer);
  session = null;
  home = await call();
  if (home.lost || home.error) return fill(main, h("p", { class: "warn", role: "alert" }, home.error || "…"));
  document.documentElement.lang = home.language;
  document.title = t(home.supervisor ? "supervisor" : "title");
  fill(main, h("h1", {}, home.supervisor ? t("supervisor") : home.name === "you" ? t("title") : t("hello", { name: home.name })),
    home.supervisor ? assigning() : [h("p", { class: "label" }, t("intro")), home.small ? h("p", { class: "warn" }, t("small", { model: home.small })) : null, h("details", {}, h("summary", {}, t("notice")), h("p", { class: "small" }, home.notice)), assignments(), beginning()],
    h("section", {}, h("h2", {}, t(home.supervisor ? "all_sessions" : "sessions")), home.sessions.length ? h("ul", { class: "plain" }, home.sessions.map(sessionLink)) : h("p", { class: "soft" }, t("no_sessions"))),
    records());
}

function sessionLink(one) {
  const state = one.ended ? t("ended") : t("under_way");
  return h("li", {}, h("a", { href: `#${one.number}` }, `${home.supervisor ? `${one.trainee}: ` : ""}${one.client}`),
    h("span", { class: "soft small" }, ` ${one.at.slice(0, 16).replace("T", " ")} · ${t("lines")}: ${one.lines} · ${state}${one.focus ? ` · ${one.focus}` : ""}`));
}

function assignments() {
  if (!home.assigned.length) return null;
  return h("section", { class: "card" }, h("h2", {}, t("assignments")), h("ul", { class: "plain" }, home.assigned.map((one) =>
    h("li", { class: "row" }, said(t("assigned", { client: one.client || t("any_client"), focus: one.focus })),
      h("button", { onclick: () => begin({ ...one, client: one.client || Object.keys(home.clients)[0] }) }, t("begin"))))));
}

/** Select and text fields that say whom, when feedback comes, what is practiced. */
function choices(more = []) {
  const field = (id, label, control) => h("p", { class: "field" }, h("label", { for: id }, label), control);
  const names = Object.entries(home.clients).sort((a, b) => a[1] - b[1]);
  return [...more,
    field("client", t("client"), h("select", { id: "client", name: "client" }, home.supervisor ? h("option", { value: "" }, t("any_client")) : null,
      names.map(([name, level]) => h("option", { value: name }, `${name} · ${t("difficulty", { n: level })}`)))),
    field("feedback", t("feedback"), h("select", { id: "feedback", name: "feedback" }, MODES.map((one) => h("option", { value: one }, t(`mode_${one}`))))),
    field("therapy", t("therapy"), h("select", { id: "therapy", name: "therapy" }, h("option", { value: "" }, t("no_therapy")), home.therapies.map((one) => h("option", { value: one }, one.replaceAll("_", " "))))),
    field("focus", t("focus"), h("input", { id: "focus", name: "focus", maxlength: "200", autocomplete: "off" }))];
}

function beginning() {
  return h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); begin(Object.fromEntries(new FormData(event.target))); } },
    h("h2", {}, t("choose")), choices(), h("p", { class: "soft small" }, t("levels")), h("button", { class: "main" }, t("begin")), h("div", { role: "alert", id: "trouble" }));
}

function assigning() {
  const send = async (event) => {
    event.preventDefault();
    const found = await call({ do: "assign", ...Object.fromEntries(new FormData(event.target)) });
    if (found.error) return fill(document.getElementById("trouble"), h("p", { class: "warn" }, found.error));
    await showHome();
    announce(t("done"));
  };
  const to = h("p", { class: "field" }, h("label", { for: "to" }, t("to")), h("select", { id: "to", name: "to" }, h("option", { value: "" }, t("everybody")), home.people.map((one) => h("option", { value: one }, one))));
  return h("form", { class: "card", onsubmit: send }, h("h2", {}, t("assign")), choices([to]), h("button", { class: "main" }, t("assign_do")), h("div", { role: "alert", id: "trouble" }),
    home.assigned.length ? h("ul", {}, home.assigned.map((one) => h("li", {}, `${one.to || t("everybody")}: `, said(t("assigned", { client: one.client || t("any_client"), focus: one.focus }))))) : null);
}

async function begin({ client, feedback, focus, therapy }) {
  const found = await call({ do: "begin", client, feedback, focus, therapy });
  if (found.number) location.hash = `#${found.number}`;
  else fill(document.getElementById("trouble"), h("p", { class: "warn" }, found.error || t("lost")));
}

/** The learning record: a small chart for each count, and the table behind them. */
function records() {
  if (!home.record.length) return null;
  const people = [...new Set(home.record.map((row) => row.trainee))];
  const columns = ["client", "lines", ...CHARTS, "taken_back", "openness_before", "openness_after"];
  return h("section", {}, h("h2", {}, t(home.supervisor ? "all_records" : "record")), h("p", { class: "soft small" }, t("record_note")), people.map((name) => {
    const rows = home.record.filter((row) => row.trainee === name);
    return [home.supervisor ? h("h3", {}, name) : null, h("div", { class: "charts" }, CHARTS.map((key) => sparkline(key, rows))),
      h("details", {}, h("summary", {}, t("counts")), h("div", { class: "wide", tabindex: "0", role: "group", "aria-label": t("counts") }, h("table", {},
        h("thead", {}, h("tr", {}, columns.map((one) => h("th", { scope: "col" }, t(one))))),
        h("tbody", {}, rows.map((row) => h("tr", {}, columns.map((one) => h("td", {}, one === "client" ? row.client : number(row[one])))))))))];
  }));
}

function sparkline(key, rows) {
  const values = rows.map((row) => row[key] ?? 0);
  const [wide, high, most] = [150, 44, Math.max(...values, 1)];
  const points = values.map((value, at) => [values.length > 1 ? 6 + (at * (wide - 12)) / (values.length - 1) : wide / 2, high - 6 - (value * (high - 12)) / most]);
  const label = t("charts", { what: t(key), values: values.map(number).join(", ") });
  return h("figure", { class: "spark" }, h("figcaption", { class: "small" }, `${t(key)}: `, h("strong", {}, number(values.at(-1)))),
    h("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": label },
      h("line", { x1: "0", x2: String(wide), y1: String(high - 6), y2: String(high - 6), class: "axis" }), h("polyline", { points: points.map((one) => one.join(",")).join(" ") }),
      points.map(([x, y]) => h("circle", { cx: String(x), cy: String(y), r: "3.5" }))));
}

// one session

async function showSession(id) {
  clearTimeout(timer);
  if (!home || home.lost) await showHome();
  const found = await call(null, `?session=${id}`);
  if (found.error) return void (location.hash = "");
  if (!found.lost) take(found);
  again(id);
}

function again(id) {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    const pending = kept(id).pending;
    const mine = session?.number === id;
    if (pending) await send(pending);
    else if (mine && (session.owed.length || !home.supervisor)) {
      const found = await call(null, `?session=${id}`);
      if (location.hash !== `#${id}`) return;
      if (found.lost) trouble(t("lost"));
      else take(found);
    }
    if (location.hash === `#${id}`) again(id);
  }, session?.owed.length ? EVERY_MS : 4 * EVERY_MS);
}

function take(found) {
  const before = session?.number === found.number ? session : null;
  if (before && JSON.stringify(before) === JSON.stringify(found)) return;
  const news = before && found.lines.length > before.lines.length ? found.lines.at(-1).answers : [];
  session = found;
  drawSession();
  if (news?.length) announce(`${found.client}: ${news.join(" ")}`);
  else if (before && !before.ended && found.ended) announce(t("over"));
}

function drawSession() {
  const typing = document.activeElement?.id;
  const { number: id, lines, client, owed, over, ended, stopped } = session;
  const waits = owed.find((one) => one[0] === "say");
  const pending = kept(id).pending;
  const unsent = pending && !session.ids.includes(pending.id) ? pending : null;
  if (pending && !unsent) keep(id, { pending: null });
  const shown = lines.flatMap((one) => [bubble("mine", t("you"), one.said, one.number), ...one.answers.map((text) => bubble("theirs", client, text)), feedbackOf(one), commentsOn(one.number)]);
  if (waits || unsent) shown.push(bubble("mine", t("you"), waits ? waits[1] : unsent.text), h("li", { class: "soft waiting" }, t("waiting", { client })));
  fill(main, h("p", {}, h("a", { href: "#" }, `← ${t("back")}`)), h("h1", {}, home.supervisor ? `${session.trainee}: ${client}` : client), session.focus ? h("p", { class: "soft" }, said(session.focus)) : null,
    warned ? h("div", { class: "warn", role: "alert" }, warned.split("\n").map((one) => h("p", {}, one))) : null,
    ended && session.report ? report() : null,
    h("h2", { class: ended ? "" : "hidden" }, t("transcript")),
    lines.length || waits || unsent ? null : h("p", { class: "soft" }, t("first_line")),
    h("ol", { class: "talk" }, shown),
    h("div", { id: "trouble", role: "alert" }, stopped ? h("p", { class: "warn" }, t("stopped", { why: stopped })) : session.trouble ? h("p", { class: "warn" }, t("trouble", { why: session.trouble })) : null),
    home.supervisor || ended || stopped ? null : [over && !waits ? h("p", {}, t("over")) : lines.at(-1)?.parting ? h("p", { class: "soft" }, t("parting", { client })) : null, form(over || waits || unsent), steps(waits)]);
  if (typing === "say") document.getElementById("say")?.focus({ preventScroll: true });
  if (!ended && !home.supervisor) main.querySelector(".talk li:last-child")?.scrollIntoView({ block: "nearest" });
}

function bubble(whose, who, text, line) {
  return h("li", { class: `line ${whose}` }, h("span", { class: "who small" }, line ? `${who} · ${line}` : who), said(text, "p"));
}

function moved(one) {
  const { client } = session;
  if (!one.shift) return one.answers.length ? t("unknown") : "";
  const slots = { client, quote: one.shift.quote, before: number(one.shift.before), after: number(one.shift.after) };
  const about = one.shift.about ? ` ${t("touched", { about: one.shift.about.replace(/[.。]$/, "") })}` : "";
  return t(one.shift.quote === null ? "still" : one.shift.before === one.shift.after ? "same" : "moved", slots) + about;
}

function feedbackOf(one) {
  const found = one.feedback;
  const late = session.owed.some((owed) => owed[0] === "feed" && owed[1] === one.number);
  if (!found && late) return h("li", { class: "soft waiting" }, t("waiting_feedback"));
  const may = session.mode === "request" && !session.ended && !home.supervisor && one.answers.length;
  if (!found) return may ? h("li", {}, h("button", { class: "small", onclick: () => step({ do: "ask", line: one.number }) }, t("ask"))) : null;
  return h("li", { class: "feedback" }, h("h3", {}, found.name), found.noticed ? said(found.noticed, "p") : null,
    one.shift || one.answers.length ? [h("p", {}, h("strong", {}, `${t("what_did", { client: session.client })}: `), said(found.effect || moved(one))), found.effect ? h("p", { class: "soft small" }, said(moved(one))) : null] : null,
    one.shift?.held_back ? h("p", {}, h("strong", {}, `${t("held_back", { client: session.client })}: `), said(one.shift.held_back)) : null,
    found.alternative ? h("p", {}, h("strong", {}, `${t(found.example ? "example" : "instead")} `), said(`“${found.alternative}”`, "q", { class: "say" })) : null,
    h("p", {}, h("strong", {}, `${t("why")}: `), said(found.reason)),
    h("p", { class: "soft small" }, `${t("source")}: `, said(found.source), `. ${one.number > 1 ? found.by : found.by === "rules" ? t("by_rules") : t("by_model", { by: found.by })}`));
}

function commentsOn(line) {
  const notes = session.comments.filter((one) => one.line === line).map((one) => h("li", { class: "note" }, h("strong", {}, `${t("comment", { by: t("supervisor") })}: `), said(one.text)));
  if (!home.supervisor) return notes;
  const id = `note-${line}`;
  const send = (event) => { event.preventDefault(); step({ do: "comment", line, text: event.target.elements[0].value }); };
  return [...notes, h("li", {}, h("form", { class: "row", onsubmit: send }, h("label", { for: id, class: "hidden" }, t("write_comment")), h("input", { id, placeholder: t("write_comment"), maxlength: "1000" }), h("button", {}, t("comment_do"))))];
}

function form(closed) {
  if (closed === true) return null;
  const say = h("textarea", { id: "say", rows: "3", maxlength: "2000", disabled: Boolean(closed), oninput: (event) => keep(session.number, { draft: event.target.value }),
    onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); event.target.form.requestSubmit(); } } });
  say.value = kept(session.number).draft || "";
  const leave = h("input", { type: "checkbox", id: "leave" });
  const submit = (event) => {
    event.preventDefault();
    const text = say.value.trim();
    if (!text) return trouble(t("empty"));
    const pending = { do: "say", session: session.number, id: crypto.randomUUID?.() || `${Date.now()}-${Math.random()}`, text, leaves: leave.checked };
    keep(session.number, { pending, draft: "" });
    session = { ...session };
    drawSession();
    send(pending);
  };
  return h("form", { class: "saying", onsubmit: submit }, h("label", { for: "say" }, t("your_line")), say,
    h("p", { class: "row" }, h("button", { class: "main", disabled: Boolean(closed) }, t("say")), h("span", { class: "row" }, leave, h("label", { for: "leave" }, t("goodbye")))));
}

function steps(waits) {
  if (waits || !session.lines.length) return null;
  const end = () => { if (session.over || confirm(t("end_sure"))) step({ do: "end" }); };
  return h("p", { class: "row steps" }, h("button", { onclick: undo }, t("undo")), h("button", { class: session.over ? "main" : "", onclick: end }, t("end")));
}

async function undo() {
  const text = session.lines.at(-1).said;
  const found = await step({ do: "undo" });
  if (!found) return;
  if (!kept(session.number).draft) keep(session.number, { draft: text });
  drawSession();
  announce(t("taken"));
  document.getElementById("say")?.focus();
}

async function step(body) {
  const found = await call({ session: session.number, ...body });
  if (found.lost || found.error) return void trouble(found.error || t("lost"));
  take(found);
  again(session.number);
  return found;
}

async function send(pending) {
  const found = await call(pending);
  if (found.lost) return trouble(t("lost"));
  keep(pending.session, { pending: null });
  if (found.error) {
    keep(pending.session, { draft: pending.text });
    drawSession();
    return trouble(found.error);
  }
  warned = found.danger || warned;
  delete found.danger;
  take(found);
  again(pending.session);
}

function trouble(text) {
  fill(document.getElementById("trouble"), h("p", { class: "warn" }, said(text)));
}

// the report

function report() {
  const { report: of, lines, taken_back: first, client } = session;
  const skills = (found) => h("ul", {}, Object.entries(found).sort((a, b) => b[1] - a[1]).map(([id, times]) => h("li", {}, `${home.skills[id] ?? id}: ${times}`)));
  const counts = ["lines", "open", "closed", "reflections", "advice", "longest", "talk_share", "taken_back"];
  return h("section", { class: "report" }, h("h2", {}, t("report")), h("p", { class: "label" }, t("self_check")),
    h("div", { class: "card" }, h("h3", {}, t("well")), of.well.length ? h("ul", { class: "plain" }, of.well.map((one) => h("li", {}, h("span", { class: "soft small" }, `${t("line_n", { n: one.line })}: `), said(`“${one.quote}”`, "q", { class: "say" }), " ", said(one.why)))) : h("p", {}, t("none_well"))),
    h("div", { class: "card" }, h("h3", {}, t("try")), said(of.next, "p"), of.line ? h("p", {}, h("strong", {}, `${of.example ? t("example") : t("could")}: `), said(`“${of.line}”`, "q", { class: "say" })) : null),
    of.danger.length ? h("div", { class: "card danger" }, h("h3", {}, t("danger")), h("p", {}, t("danger_note")), h("ul", { class: "plain" }, of.danger.map((one) => h("li", {}, h("strong", {}, one.holds ? `✓ ${t("held")}` : `✗ ${t("broken")}`), ` ${one.what}`, one.line ? ` (${t("line_n", { n: one.line })})` : "")))) : null,
    first.length ? h("div", { class: "card" }, h("h3", {}, t("both")), first.map((one) => both(one, lines[one.number - 1]))) : null,
    h("div", { class: "card two" }, h("div", {}, h("h3", {}, t("counts")), h("dl", {}, counts.flatMap((key) => [h("dt", {}, t(key)), h("dd", {}, number(of.counts[key]))]), of.openness ? [h("dt", {}, t("openness")), h("dd", {}, of.openness.map(number).join(" → "))] : null)),
      h("div", {}, h("h3", {}, t("used")), skills(of.used), Object.keys(of.missed).length ? [h("h3", {}, t("missed")), skills(of.missed)] : null)),
    h("p", { class: "soft small" }, of.by === "rules" ? t("by_rules") : t("by_model", { by: of.by })));

  function both(one, other) {
    const way = (label, found) => h("div", {}, h("h4", {}, label), found ? [said(`“${found.said}”`, "q", { class: "say" }), found.answers.map((text) => h("p", {}, h("strong", {}, `${client}: `), said(text))), h("p", { class: "soft small" }, said(moved(found)))] : h("p", { class: "soft" }, t("not_said_again")));
    return h("div", { class: "two ways" }, way(`${t("first_way")} · ${t("line_n", { n: one.number })}`, one), way(t("second_way"), other));
  }
}

function route() {
  warned = null;
  const id = Number(location.hash.slice(1));
  main.focus({ preventScroll: true });
  if (id) showSession(id);
  else showHome();
}

window.addEventListener("hashchange", route);
route();
