// Ask a person questions as of a moment of the run. An interview stays with its person and moment; the run does not change.

import { fill, h, said, sentence } from "./dom.js";
import { notices } from "./notice.js";

const lastOpen = new Map(); // by run: the interview to go on with when the panel is shown again

/** Render into `section`; `update({who, tick})` says who and when a new interview would be about; `moment(tick)` is its date. */
export function mountInterview(section, { run, who, tick, moment }) {
  const state = { who, tick, name: null, of: null, exchanges: 0, busy: false, models: [], own: {}, byHand: "", notice: "", characters: 2000 };
  const base = `/api/runs/${encodeURIComponent(run)}`;

  const about = h("p", { class: "interview-about" });
  const notice = h("p", { class: "soft small" });
  const telling = h("div", {});
  const warned = notices(telling);
  const log = h("ol", {});
  const logged = h("div", { class: "interview-log", role: "log", "aria-label": "Questions and answers", tabindex: "0" }, log);
  const status = h("p", { class: "interview-status soft", role: "status" });
  const trouble = h("div", { role: "alert" });
  const question = h("textarea", { id: "interview-question", rows: "3", maxlength: "2000", "aria-describedby": "interview-hint interview-left", oninput: count, onkeydown: keys });
  const left = h("span", { id: "interview-left", class: "soft small" });
  const model = h("select", { id: "interview-model", onchange: offer });
  const modelRow = h("p", { class: "row" }, h("label", { for: "interview-model" }, "Who answers"), model);
  const answers = h("p", { class: "soft small" });
  const costs = h("input", { type: "checkbox", id: "interview-costs" });
  const costsRow = h("p", { class: "row warn" }, costs, h("label", { for: "interview-costs" }, "This model may cost money. Ask it all the same."));
  const send = h("button", { type: "submit", class: "main" }, "Ask");
  const anew = h("button", { type: "button", onclick: begin });
  const form = h("form", { class: "interview-form", onsubmit: ask },
    h("label", { for: "interview-question" }, "Your question"), question,
    h("p", { class: "row" }, send, h("span", { id: "interview-hint", class: "soft small" }, "Ctrl and Enter send it too."), left),
    modelRow, answers, costsRow);
  const earlier = h("div", { class: "interview-earlier" });
  if (!document.querySelector('link[href="/static/interview.css"]')) document.head.append(h("link", { rel: "stylesheet", href: "/static/interview.css" }));
  fill(section, h("h2", {}, "Interview"), about, notice, telling, h("p", { class: "row" }, anew), logged, status, trouble, form, earlier);
  costsRow.hidden = true;
  logged.hidden = true;
  show();
  load();
  return {
    update(next) {
      if (next.who !== undefined && next.who !== state.who) {
        state.who = next.who;
        choose();
      }
      if (next.tick !== undefined) state.tick = next.tick;
      show();
    },
  };

  async function load() {
    const found = await get(`${base}/interviews`);
    if (found.error) return fail(found.error);
    Object.assign(state, { models: found.models, own: found.own, byHand: found.by_hand, notice: found.notice, characters: found.characters });
    question.setAttribute("maxlength", String(found.characters));
    fill(notice, found.notice);
    warned.before(found.before);
    fill(model, found.models.map((one) => h("option", { value: one.name }, one.name + (one.may_cost ? " (may cost money)" : ""))));
    modelRow.hidden = found.models.length < 2;
    if (found.trouble) fail(found.trouble);
    choose();
    list(found.interviews);
    const before = found.interviews.find((one) => one.name === lastOpen.get(run));
    if (before && !state.of) open(before, false);
  }

  function list(interviews) {
    if (!interviews.length) return fill(earlier);
    fill(earlier, h("details", {}, h("summary", {}, `Earlier interviews (${interviews.length})`),
      h("ul", {}, [...interviews].reverse().map((one) => h("li", {},
        h("button", { type: "button", onclick: () => open(one) }, `${one.who}, ${moment(one.tick)}`), " ",
        h("span", { class: "soft small" }, `${one.answers.length} ${one.answers.length === 1 ? "question" : "questions"}, ${one.model}, asked on ${one.created}`))))));
  }

  function open(one, focus = true) {
    if (state.busy) return;
    lastOpen.set(run, one.name);
    Object.assign(state, { name: one.name, of: { who: one.who, tick: one.tick, model: one.model }, exchanges: 0 });
    fill(log);
    one.answers.forEach((told) => exchange(told.question, told));
    show();
    if (focus) question.focus();
  }

  function begin() {
    if (state.busy) return;
    lastOpen.delete(run);
    Object.assign(state, { name: null, of: null, exchanges: 0 });
    fill(log);
    logged.hidden = true;
    fail("");
    show();
    question.focus();
  }

  function show() {
    const of = state.of || { who: state.who, tick: state.tick };
    fill(about, of.who ? ["You ask ", h("strong", {}, said(of.who)), `, as of ${moment(of.tick)}. What happened later is not known then, and the run stays as it is.`]
      : "Choose a person and a moment to ask them.");
    const moved = state.of && (state.of.who !== state.who || state.of.tick !== state.tick);
    fill(anew, moved ? `Ask ${state.who} as of ${moment(state.tick)} instead` : "Begin a new interview");
    anew.hidden = !state.of || !state.who;
    modelRow.hidden = Boolean(state.of) || state.models.length < 2;
    form.hidden = !of.who;
    offer();
    count();
  }

  /** Who answers for a person, until somebody chooses otherwise: the person's own model. */
  function choose() {
    if (state.own[state.who]) model.value = state.own[state.who];
    offer();
  }

  function offer() {
    const chosen = state.of?.model || model.value;
    costsRow.hidden = !state.models.find((one) => one.name === chosen)?.may_cost;
    fill(answers, chosen && (modelRow.hidden || state.byHand) ? `Answers come from ${chosen}${state.byHand ? `; ${state.byHand}` : ""}.` : "");
  }

  function count() {
    const rest = state.characters - question.value.length;
    if (question.value.trim() && !state.busy && costsRow.hidden) fail("");
    fill(left, rest < 200 ? `${rest} characters left` : "");
  }

  function keys(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit();
    }
  }

  async function ask(event) {
    event.preventDefault();
    const text = question.value.trim();
    if (state.busy) return;
    if (!text) return fail("The question is empty; write what you want to know.");
    const of = state.of || { who: state.who, tick: state.tick, model: model.value || null };
    busy(true, `Waiting for the model ${of.model || ""} to answer as ${of.who} …`);
    const told = await get(`${base}/interview`, {
      who: of.who, tick: of.tick, question: text, interview: state.name, model: of.model, may_cost: !costsRow.hidden && costs.checked,
    });
    busy(false, "");
    if (told.error) {
      if (told.may_cost) costsRow.hidden = false;
      fail(told.error);
      return question.focus();
    }
    fail("");
    Object.assign(state, { name: told.interview, of: { who: told.who, tick: told.tick, model: of.model || told.model } });
    lastOpen.set(run, told.interview);
    exchange(told.question, told);
    warned.danger(told.danger);
    question.value = "";
    show();
    question.focus();
    const found = await get(`${base}/interviews`);
    if (!found.error) list(found.interviews);
  }

  function busy(on, words) {
    state.busy = on;
    send.setAttribute("aria-disabled", String(on));
    fill(status, words);
  }

  function exchange(asked, told) {
    state.exchanges += 1;
    logged.hidden = false;
    const who = state.of?.who || state.who;
    log.append(h("li", {},
      h("p", { class: "interview-question" }, h("span", { class: "interview-name" }, "You: "), said(asked)),
      h("p", { class: "interview-answer" }, h("span", { class: "interview-name" }, said(who), ": "), said(told.answer, "q")),
      told.not_theirs ? h("p", { class: "warn small" }, said(sentence(told.not_theirs))) : null,
      told.problem ? h("p", { class: "warn small" }, `The model gave no usable answer (`, said(told.problem), `); this line replaces one.`) : null,
      h("details", {}, h("summary", {}, `What came to mind (${told.recalled.length})`), table(told.recalled))));
    log.lastElementChild.scrollIntoView({ block: "nearest" });
  }

  function table(recalled) {
    const terms = ["recency", "poignancy", "emotion_score", "emotion_relevance", "relevance"];
    return h("div", { class: "interview-scroll", tabindex: "0", role: "region", "aria-label": "What came to mind, as a table" }, h("table", {},
      h("thead", {}, h("tr", {}, ["Score", "Memory", "From", "Tick", ...terms.map((term) => term.replace("_", " "))].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, recalled.map((one) => h("tr", {},
        h("td", {}, one.score.toFixed(3)), h("td", {}, said(one.text)), h("td", {}, `${one.origin}, ${one.store}-term`), h("td", {}, String(one.tick)),
        terms.map((term) => h("td", {}, one[term].toFixed(2))))))));
  }

  function fail(text) {
    fill(trouble, text ? h("p", { class: "warn" }, said(text)) : null);
  }
}

/** JSON from the site; `{error}` with words for the page when it does not come. */
async function get(address, body) {
  try {
    const reply = await fetch(address, body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    const text = await reply.text();
    let found;
    try {
      found = JSON.parse(text);
    } catch {
      found = { error: text || `the site answered ${reply.status}` };
    }
    return reply.ok || found.error ? found : { error: `the site answered ${reply.status}` };
  } catch {
    return { error: "The site does not answer. Is the command that serves it still running?" };
  }
}
