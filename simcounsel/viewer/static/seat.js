// The page of a person who speaks for a resident: who one is, whom one will meet and when, one's turn, questionnaires, one's notes, one's own earlier conversations.

import { announce, fill, h, said } from "./dom.js";
import { mountForm } from "./form.js";
import { mountTurn } from "./turn.js";

const POLL_MS = 2000;
const NOTES_MS = 3000; // the site takes one post a second, of turns too
const ROLE = { counselor: "a counselor", client: "a client, who seeks help", layperson: "a friend of somebody who seeks help" };
const main = document.getElementById("main");

start().catch((error) => fill(main, h("p", { class: "warn", role: "alert" }, error.message)));

async function start() {
  const seat = await known();
  document.title = `${seat.who}: simcounsel`;
  const draft = `draft ${seat.id}`;
  const waiting = h("section", { class: "card waiting", "aria-label": "What comes", role: "status" });
  const turn = h("section", { id: "turn", class: "turn", "aria-label": "Your turn", hidden: true, tabindex: "-1" });
  const form = h("section", { id: "form", class: "turn form", hidden: true });
  const past = h("section", { "aria-label": "Your conversations" });
  fill(main, h("h1", {}, "You speak for ", said(seat.who)),
    h("p", {}, `${seat.who} is ${ROLE[seat.role] || seat.role}. This is a simulation: the others are invented.`),
    h("details", { class: "small", open: !seat.past.length }, h("summary", {}, "Who ", said(seat.who), " is"), seat.about.map((line) => said(line, "p", { class: "soft small" }))),
    h("div", { class: "two" }, h("div", {}, waiting, turn, form, past), notes(seat)));
  let shown = seat;
  const changed = () => { waiting.hidden = !turn.hidden || !form.hidden; };
  const { danger } = mountTurn(turn, { address: "/api/seat/turn", kept: stored(draft), keep: (text) => store(draft, text), changed });
  const answers = `answers ${seat.id}`;
  mountForm(form, { address: "/api/seat/form", kept: stored(answers), keep: (text) => store(answers, text), danger, changed });
  draw(shown);
  for (;;) {
    await new Promise((done) => setTimeout(done, POLL_MS));
    try {
      const now = await known();
      if (JSON.stringify({ ...now, notes: "" }) !== JSON.stringify({ ...shown, notes: "" })) draw((shown = now));
    } catch {
      if (!shown.over) fill(waiting, h("p", {}, "The run has ended, or the site does not answer. Your notes and lines are kept. You may close this page."));
    }
  }

  function draw(now) {
    const next = now.next ? ["You will next meet ", h("strong", {}, said(now.next.with)), `: ${now.next.when}, `, said(now.next.place), "."] : "No meeting is agreed; somebody may come by.";
    fill(waiting, now.over ? h("p", {}, "This was the last of it. Thank you. You may close this page.") : [h("p", {}, "It is ", h("strong", {}, now.now), "."), h("p", {}, next), h("p", { class: "soft small" }, "This page says when it is your turn; you need not do anything until then.")]);
    fill(past, now.past.length ? h("h2", {}, "Your conversations so far") : null, now.past.toReversed().map((talk, index) => h("details", { class: "card", open: index === 0 && now.past.length === 1 },
      h("summary", {}, said(talk.with), `, ${talk.when}`), h("ol", { class: "talk" }, talk.lines.map(([who, text]) => h("li", {}, h("strong", {}, said(who), ": "), said(text)))))));
  }
}

/** Notes of one's own; kept with the run a moment after the last letter. */
function notes(seat) {
  const state = h("span", { class: "soft small", role: "status" });
  let timer = 0;
  let kept = seat.notes;
  const box = h("textarea", { id: "notes", maxlength: "20000", value: seat.notes, oninput: () => { clearTimeout(timer); timer = setTimeout(keep, NOTES_MS); }, onchange: keep });
  addEventListener("pagehide", keep);
  return h("section", { class: "card", "aria-label": "Your notes" }, h("h2", {}, h("label", { for: "notes" }, "Your notes")), box, h("p", { class: "soft small" }, "Nobody in the simulation reads them; they are kept with the run. "), state);

  async function keep() {
    clearTimeout(timer);
    if (box.value === kept) return;
    const text = box.value;
    const reply = await fetch("/api/seat/notes", { method: "POST", keepalive: true, headers: { "content-type": "application/json" }, body: JSON.stringify({ notes: text }) }).catch(() => null);
    if (reply?.ok) kept = text;
    fill(state, reply?.ok ? "Kept." : "Not kept: the site does not answer.");
    if (!reply?.ok) announce("Your notes could not be kept.");
  }
}

async function known() {
  const reply = await fetch("/api/seat");
  if (!reply.ok) throw new Error(await reply.text());
  return reply.json();
}

function stored(key) {
  try {
    return localStorage.getItem(key) || "";
  } catch {
    return "";
  }
}

function store(key, text) {
  try {
    if (text) localStorage.setItem(key, text);
    else localStorage.removeItem(key);
  } catch {
    // without storage what is typed lasts as long as the page
  }
}
