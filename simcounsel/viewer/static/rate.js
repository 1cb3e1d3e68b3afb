// A rater's page. Served, it reads its study from the server and sends answers there; as a file it
// finds the study in STUDY, keeps the answers in this browser and hands them over as a download.
import { h, fill, said, announce } from "./dom.js";
import { aboutYou, consented, feedbackOn } from "./rateentry.js";

const embedded = typeof STUDY === "undefined" ? null : STUDY;
const main = document.getElementById("main");
const head = document.getElementById("head");
const COMMENT_LENGTH = 2000;
const [ATTENTION, CHECK_POINTS] = ["attention", 5];
const LONGEST_SECONDS = 24 * 60 * 60;

let study = null; // what the server, or the file, says
let shelf = null; // where this browser keeps what is not sent yet
const [CONSENT, TRAINING] = [-3, -2];
let at = -1; // which item is open; -1 is the start, items.length the end; before it consent, and the item to train on
let clock = null;

// what this browser keeps: localStorage where there is one, else memory

function makeShelf(name) {
  const memory = new Map();
  let lasting = true;
  try {
    localStorage.setItem(`${name}:try`, "1");
    localStorage.removeItem(`${name}:try`);
  } catch {
    lasting = false;
  }
  const guarded = (attempt, otherwise) => {
    if (!lasting) return otherwise();
    try {
      return attempt();
    } catch {
      lasting = false;
      return otherwise();
    }
  };
  return {
    lasting: () => lasting,
    read(key) {
      const text = guarded(() => localStorage.getItem(`${name}:${key}`), () => memory.get(key));
      if (text) memory.set(key, text);
      try {
        return text ? JSON.parse(text) : null;
      } catch {
        return null;
      }
    },
    write(key, value) {
      const text = JSON.stringify(value);
      memory.set(key, text);
      guarded(() => localStorage.setItem(`${name}:${key}`, text), () => null);
    },
    drop(key) {
      memory.delete(key);
      guarded(() => localStorage.removeItem(`${name}:${key}`), () => null);
    },
    // each answer has a key of its own: two tabs that write at once lose none of each other's
    add(record) {
      this.write(`answer:${record.time}:${Math.random().toString(36).slice(2)}`, record);
    },
    answers() {
      const before = `${name}:`, mine = new Set([...memory.keys()].filter((key) => key.startsWith("answer:")));
      guarded(() => {
        for (const key of Object.keys(localStorage)) if (key.startsWith(`${before}answer:`)) mine.add(key.slice(before.length));
      }, () => null);
      const old = this.read("answers") || []; // as earlier pages kept them
      return [...old, ...[...mine].sort().map((key) => this.read(key)).filter(Boolean)];
    },
  };
}

/** The questions about an item; with some there is one more, to show that one reads. */
function questionsOf(shown) {
  const wanted = study.checks?.[shown.id];
  if (!wanted) return study.instrument.items;
  const check = { id: ATTENTION, text: `Please choose ${wanted} here. It shows that this page is read.`, points: CHECK_POINTS, low: "1", high: String(CHECK_POINTS) };
  const half = Math.ceil(study.instrument.items.length / 2);
  return [...study.instrument.items.slice(0, half), check, ...study.instrument.items.slice(half)];
}

/** Consent, and a few words about oneself; whoever declines sees nothing else. */
function entry() {
  return aboutYou(study, async (answers) => {
    await keep({ item: "you", answers, comment: "", seconds: null });
    study.given.you = { answers, comment: "" };
    open(consented(study) ? -1 : CONSENT);
  });
}

/** The item to train on: answered like any other, then with what somebody says who knows. */
function training() {
  const { shown, answers, because } = study.instrument.training;
  const example = { ...shown, id: "training" };
  if (!study.given.training) return item(example);
  return [h("h1", { tabindex: -1, class: "rate-number" }, "An example: how it could be rated"),
    h("div", { class: wide(example) ? "rate-two rate-pairwise" : "rate-two" }, seen(example), feedbackOn(study, answers, because, () => open(Math.max(0, nextOpen()))))];
}

// where answers go

async function keep(given) {
  if (embedded) {
    const record = { ...given, study: study.study, rater: study.rater, position: Math.max(0, at + 1), time: new Date().toISOString() };
    shelf.add(record);
    return;
  }
  const answer = await fetch(api(), { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(given) });
  if (!answer.ok) throw new Error(await problemIn(answer));
}

async function problemIn(answer) {
  try {
    return (await answer.clone().json()).problem || `the server said ${answer.status}`;
  } catch {
    return (await answer.text()) || `the server said ${answer.status}`;
  }
}

const api = () => `/api${location.pathname}`;

function download() {
  const records = shelf.answers();
  const blob = new Blob(records.map((record) => `${JSON.stringify(record)}\n`), { type: "application/x-ndjson" });
  const link = h("a", { href: URL.createObjectURL(blob), download: `answers-${study.study}-${study.rater}.jsonl` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  shelf.write("handed over", records.length);
  draw(false);
  announce(`Downloaded ${records.length} answers.`);
}

// how long an item was in sight

function makeClock(before) {
  let spent = before || 0;
  let since = document.hidden ? null : performance.now();
  const seen = () => spent + (since === null ? 0 : (performance.now() - since) / 1000);
  return {
    seconds: () => Math.min(LONGEST_SECONDS, Math.round(seen() * 10) / 10),
    turn() {
      spent = seen();
      since = document.hidden ? null : performance.now();
    },
  };
}

// the pages

const count = () => study.items.length;
const done = () => study.items.filter((item) => study.given[item.id]).length;
const nextOpen = () => study.items.findIndex((item) => !study.given[item.id]);

function open(where) {
  at = where;
  draw(true);
}

function draw(focus) {
  fill(head, header());
  fill(main, at === CONSENT ? entry() : at === TRAINING ? training() : at < 0 ? start() : at >= count() ? end() : item(study.items[at]));
  document.title = at >= 0 && at < count() ? `${at + 1} of ${count()} · ${study.instrument.title}` : study.instrument.title;
  if (!focus) return;
  window.scrollTo(0, 0);
  main.querySelector("h1")?.focus({ preventScroll: true });
}

function header() {
  const share = Math.round((100 * done()) / count());
  return [
    h("div", { class: "rate-bar" },
      h("strong", { class: "rate-title" }, at < 0 ? "" : study.instrument.title),
      at === CONSENT ? null : h("span", { class: "soft small" }, `${done()} of ${count()} rated`),
      embedded && shelf.answers().length ? h("button", { type: "button", class: "small", onclick: download }, "Download answers") : null),
    h("div", { class: "rate-progress", role: "progressbar", "aria-label": "Rated so far", "aria-valuemin": 0, "aria-valuemax": count(), "aria-valuenow": done() },
      h("svg", { width: "100%", height: 4, "aria-hidden": "true" }, h("rect", { width: `${share}%`, height: 4, fill: "currentColor" }))),
  ];
}

function start() {
  const first = nextOpen();
  const begun = done() > 0;
  const label = first < 0 ? "See what you answered" : begun ? `Go on with number ${first + 1}` : "Begin";
  return h("div", { class: "rate-plain" },
    h("h1", { tabindex: -1 }, study.instrument.title),
    study.instrument.instructions.split(/\n\s*\n/).map((part) => h("p", {}, part.replace(/\s+/g, " "))),
    h("p", {}, `There ${count() === 1 ? "is 1 item" : `are ${count()} items`} with ${study.instrument.items.length} questions each. ` + stopping()),
    shelf.lasting() || !embedded ? null : memoryOnly(),
    h("p", {}, h("button", { type: "button", class: "main big", onclick: () => open(study.instrument.training && !study.given.training ? TRAINING : first < 0 ? 0 : first) }, label)),
    begun ? all() : null);
}

function stopping() {
  return embedded
    ? "You can stop at any time: your answers stay in this browser and are there again when you open this file in it. When you are done, download them and send the file to whoever gave you this page."
    : "You can stop at any time and come back with the same link; each answer is kept once you have pressed “Save”.";
}

function memoryOnly() {
  return h("p", { class: "warn" }, "This browser does not let a file keep anything. Please download your answers before you close this page.");
}

function end() {
  const first = nextOpen();
  return h("div", { class: "rate-plain" },
    h("h1", { tabindex: -1 }, first < 0 ? "All done. Thank you!" : "That was the last one"),
    first < 0
      ? h("p", {}, embedded ? "One thing is left: download your answers and send the file to whoever gave you this page." : "Your answers are kept. You can close this page, or look at an answer again and change it.")
      : h("p", {}, `${count() - done()} before it ${count() - done() === 1 ? "is" : "are"} not rated yet.`),
    h("p", { class: "row" },
      first < 0 ? null : h("button", { type: "button", class: "main big", onclick: () => open(first) }, `Go to number ${first + 1}`),
      embedded ? h("button", { type: "button", class: first < 0 ? "main big" : "big", onclick: download }, "Download answers") : null,
      embedded && (shelf.read("handed over") || 0) === shelf.answers().length ? h("span", { class: "soft" }, "Downloaded.") : null),
    all());
}

/** Every item by its number, and whether it is rated. */
function all() {
  return h("nav", { "aria-label": "All items" },
    h("h2", {}, "All items"),
    h("ol", { class: "rate-all" }, study.items.map((item, n) => {
      const rated = Boolean(study.given[item.id]);
      const label = `Number ${n + 1}, ${rated ? "rated" : "not rated"}`;
      return h("li", {}, h("button", { type: "button", class: rated ? "rated" : "", "aria-label": label, "aria-current": n === at ? "step" : null, onclick: () => open(n) }, rated ? `${n + 1} ✓` : n + 1));
    })));
}

function item(shown) {
  const draft = shelf.read(`draft ${shown.id}`);
  const before = draft || study.given[shown.id] || { answers: {}, comment: "" };
  clock = makeClock(draft ? draft.seconds : 0);
  const form = h("form", { class: "rate-form", novalidate: true, "aria-label": "Your rating" },
    questionsOf(shown).map((question) => scale(question, before.answers)),
    comment(before.comment),
    h("p", { id: "problem", class: "warn", role: "alert", hidden: true }),
    h("div", { class: "row" },
      h("button", { type: "button", onclick: () => open(Math.max(-1, at - 1)) }, at > 0 ? "Back" : "Instructions"),
      h("button", { type: "submit", class: "main" }, nextLabel(shown)),
      study.given[shown.id] && !draft ? h("button", { type: "button", onclick: () => open(at + 1) }, "Next, unchanged") : null));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save(shown, form);
  });
  form.addEventListener("input", () => shelf.write(`draft ${shown.id}`, read(form, shown)));
  return [
    h("h1", { tabindex: -1, class: "rate-number" }, at === TRAINING ? "An example to begin with; it does not count" : `${THING[study.instrument.about]} ${at + 1} of ${count()}`),
    h("div", { class: wide(shown) ? "rate-two rate-pairwise" : "rate-two" }, seen(shown), form),
    h("details", { class: "rate-more" }, h("summary", {}, "Instructions and all items"),
      study.instrument.instructions.split(/\n\s*\n/).map((part) => h("p", {}, part.replace(/\s+/g, " "))), all()),
  ];
}

const nextLabel = (shown) => (shown.id === "training" ? "See how it could be rated" : study.given[shown.id] ? "Save the change" : at + 1 < count() ? "Save and go on" : "Save");

const THING = { transcripts: "Conversation", personas: "Pair", "persona and talk": "Person", recalls: "Moment" };
const wide = (shown) => Boolean(shown.texts || shown.sheet || shown.recalls);

/** What there is to see of an item, by what the study is about. */
function seen(shown) {
  if (shown.texts) return pair(shown.texts);
  if (shown.recalls) return moment(shown);
  if (shown.sheet) return person(shown);
  return transcript(shown.lines, "The conversation", { tabindex: 0 });
}

/** A persona, what was done on that day, and the talk, one beside or below the other. */
function person(shown) {
  return h("div", { class: "rate-pair", role: "group", "aria-label": "The person and the conversation", tabindex: 0 },
    h("div", { class: "rate-column" }, passages("Who A is said to be".replace("A", study.instrument.person), "sheet", shown.sheet),
      passages("What was done on that day", "did", shown.did || [], "Nothing is known of it.")),
    transcript(shown.lines, "The conversation of that day", {}, true));
}

function passages(title, id, parts, otherwise) {
  return h("section", { class: "card rate-text", "aria-labelledby": `text-${id}` },
    h("h2", { id: `text-${id}` }, title),
    parts.length ? null : h("p", { class: "soft" }, otherwise),
    id === "did"
      ? h("dl", { class: "rate-did" }, parts.map((part) => [h("dt", {}, part.heading), h("dd", {}, said(part.text, "span"))]))
      : parts.map((part) => [part.heading ? h("h3", { class: "soft" }, part.heading) : null, said(part.text, "p")]));
}

/** A moment: what was said, what is felt, and what comes to mind in two ways; what comes in both stands once. */
function moment(shown) {
  const [first, second] = shown.recalls;
  const both = first.filter((text) => second.includes(text));
  const list = (texts) => (texts.length
    ? h("ul", { class: "rate-recall" }, texts.map((text) => h("li", {}, said(text, "span"))))
    : h("p", { class: "soft" }, "Nothing else."));
  return h("div", { class: "rate-pair", role: "group", "aria-label": "The moment and both recalls", tabindex: 0 },
    h("div", { class: "rate-both-wide" }, transcript(shown.lines, "What was just said", {}, true), h("p", { class: "rate-mood" }, said(shown.mood, "span"))),
    [first, second].map((texts, n) =>
      h("section", { class: "card rate-text", "aria-labelledby": `text-${n + 1}` },
        h("h2", { id: `text-${n + 1}` }, `Recall ${n + 1}`), list(texts.filter((text) => !both.includes(text))))),
    both.length ? h("section", { class: "card rate-text rate-both", "aria-labelledby": "text-both" }, h("h2", { id: "text-both" }, "Comes to mind in both"), list(both)) : null);
}

function transcript(lines, title, more, shown = false) {
  return h("section", { class: "card rate-text", "aria-label": title, ...more },
    shown ? h("h2", {}, title) : null,
    h("ol", { class: "rate-lines" }, lines.map((line) =>
      h("li", { class: line.speaker === study.instrument.person ? "person" : "partner" }, said(line.speaker, "b"), h("span", { class: "hidden" }, ": "), said(line.text, "p")))));
}

const PARTS = [["background", "Background"], ["characteristic", "Character"], ["recent_feeling", "Recent feeling"]];

/** Two texts side by side; what is word for word the same in both stands once, above them. */
function pair(texts) {
  const same = PARTS.filter(([part]) => texts[0][part] === texts[1][part]);
  const parts = (text, chosen) => chosen.map(([part, label]) => [h("h3", { class: "soft" }, label), said(text[part], "p")]);
  return h("div", { class: "rate-pair", role: "group", "aria-label": "The two texts", tabindex: 0 },
    same.length ? h("section", { class: "card rate-text rate-both", "aria-labelledby": "text-both" }, h("h2", { id: "text-both" }, "The same in both"), parts(texts[0], same)) : null,
    same.length === PARTS.length ? h("p", { class: "rate-mood" }, "Nothing has changed.") : texts.map((text, n) =>
      h("section", { class: "card rate-text", "aria-labelledby": `text-${n + 1}` },
        h("h2", { id: `text-${n + 1}` }, study.instrument.order === "told" ? ["Before", "After"][n] : `Text ${n + 1}`), parts(text, PARTS.filter((part) => !same.includes(part))))));
}

function scale(question, answers) {
  const ends = `ends-${question.id}`;
  const options = Array.from({ length: question.points }, (_, n) => n + 1);
  const known = question.id in answers;
  const point = (value, label, text) => h("label", { class: value === "none" ? "rate-none" : "rate-point" },
    h("input", { type: "radio", name: question.id, value, "aria-label": label, checked: known && String(answers[question.id] ?? "none") === String(value) }),
    h("span", { "aria-hidden": "true" }, text));
  const named = (value) => (value === 1 ? `1, ${question.low}` : value === question.points ? `${value}, ${question.high}` : `${value} of ${question.points}`);
  return h("fieldset", { id: `question-${question.id}`, "aria-describedby": ends },
    h("legend", {}, question.text),
    h("p", { class: "rate-need small" }, "No answer yet"),
    h("div", { class: "rate-scale" },
      h("div", { class: question.points > 7 ? "rate-points many" : "rate-points" },
        h("div", { class: "rate-row" }, options.map((value) => point(value, named(value), value))),
        h("div", { id: ends, class: "rate-ends small" }, h("span", {}, question.low), h("span", { class: "hidden" }, " to "), h("span", {}, question.high))),
      study.instrument.may_skip && question.id !== ATTENTION ? point("none", "cannot say", "cannot say") : null));
}

function comment(text) {
  const field = h("textarea", { id: "comment", name: "comment", maxlength: COMMENT_LENGTH, rows: 3, dir: "auto", value: text, "aria-describedby": "comment-note" });
  const note = h("p", { id: "comment-note", class: "soft small" });
  const tell = () => fill(note, `Optional, up to ${COMMENT_LENGTH} characters`, field.value.length > COMMENT_LENGTH * 0.8 ? `; ${COMMENT_LENGTH - field.value.length} left` : "", ".");
  field.addEventListener("input", tell);
  tell();
  return h("div", { class: "rate-comment" }, h("label", { for: "comment" }, "Comment"), field, note);
}

function read(form, shown) {
  const fields = new FormData(form);
  const answers = {};
  for (const question of questionsOf(shown)) {
    const value = fields.get(question.id);
    if (value !== null) answers[question.id] = value === "none" ? null : Number(value);
  }
  return { answers, comment: String(fields.get("comment") || "").slice(0, COMMENT_LENGTH), seconds: clock.seconds() };
}

async function save(shown, form) {
  const given = { item: shown.id, ...read(form, shown) };
  const open_ = questionsOf(shown).filter((question) => !(question.id in given.answers));
  for (const question of questionsOf(shown)) {
    form.querySelector(`#question-${question.id}`).classList.toggle("missing", open_.includes(question));
  }
  if (open_.length) {
    complain(form, open_.length === 1 ? "One question has no answer yet." : `${open_.length} questions have no answer yet.`);
    const first = form.querySelector(`#question-${open_[0].id}`);
    first.querySelector("input").focus({ preventScroll: true });
    first.scrollIntoView({ block: "nearest" });
    return;
  }
  const button = form.querySelector("[type=submit]");
  button.disabled = true;
  try {
    await keep(given);
  } catch (error) {
    button.disabled = false;
    complain(form, `Not saved: ${error instanceof TypeError ? "the server cannot be reached" : error.message}. Your answers are still here; please try again.`);
    return;
  }
  study.given[shown.id] = { answers: given.answers, comment: given.comment };
  shelf.drop(`draft ${shown.id}`);
  if (at === TRAINING) return draw(true);
  open(at + 1);
  announce(`Saved. ${done()} of ${count()} rated.`);
}

function complain(form, text) {
  const problem = form.querySelector("#problem");
  problem.hidden = false;
  problem.textContent = text;
}

// from the start

function begin(found) {
  study = found;
  shelf = makeShelf(`simcounsel-rating:${study.study}:${study.rater}`);
  for (const record of embedded ? shelf.answers() : []) study.given[record.item] = { answers: record.answers, comment: record.comment };
  if (!consented(study)) at = CONSENT;
  draw(false);
}

document.addEventListener("visibilitychange", () => clock && clock.turn());
addEventListener("beforeunload", (event) => {
  const loose = embedded && shelf && !shelf.lasting() && shelf.answers().length > (shelf.read("handed over") || 0);
  if (loose) event.preventDefault();
});

async function load() {
  const answer = await fetch(api());
  if (!answer.ok) throw new Error(await problemIn(answer));
  begin(await answer.json());
}

if (embedded) begin(embedded);
else load().catch((error) => fill(main, h("p", { class: "warn", role: "alert" }, `The study cannot be shown: ${error.message}. Please try again later.`)));
