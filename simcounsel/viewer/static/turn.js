// A human's turn to speak in a run that goes on: asks the site now and then, and shows a form while somebody waits for a line.

import { announce, fill, h, said } from "./dom.js";
import { notices, paragraphs } from "./notice.js";

const EVERY_MS = 1000;
const GIVE_UP_AFTER = 20;
const TOLD_AT = [60, 30, 10];
const FEELINGS = {
  neutral: "calm (neutral)", joy: "glad (joy)", trust: "at ease (trust)", fear: "afraid (fear)", surprise: "thrown (surprise)", sadness: "low (sadness)",
  disgust: "fed up (disgust)", anger: "angry (anger)", anticipation: "hopeful (anticipation)",
};

/** Render into `section`, which stays empty and hidden while it is nobody's turn. address: of the turns; kept: what was being written when the page was left; keep(text): is told of all that is written; changed(): a turn began or ended. */
export function mountTurn(section, { address, kept = "", keep = () => {}, changed = () => {} }) {
  let turn = null;
  let until = 0;
  let told = [];
  let timer = 0;
  let parts = null;
  let draft = kept; // what was being written when the time was up, or the page was left
  let silent = 0;
  let spoke = false; // whether a line was said in this conversation, by whoever is asked
  if (!document.querySelector('link[href="/static/turn.css"]')) document.head.append(h("link", { rel: "stylesheet", href: "/static/turn.css" }));
  section.hidden = true;
  const holder = h("div", { class: "turn-notices" });
  section.before(holder);
  const telling = notices(holder);
  fetchJson(`${address}/notice`).then((found) => {
    if (found.status !== 200) return;
    telling.before(found.body.before);
    if (spoke) telling.fold();
    telling.danger(found.body.danger); // told before this page was loaded anew
  });
  look();
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  return { danger: (text) => telling.danger(text), stop() { clearTimeout(timer); timer = -1; holder.remove(); } };

  async function look() {
    if (timer === -1) return;
    clearTimeout(timer);
    const found = await fetchJson(address);
    if (timer === -1) return;
    clearTimeout(timer);
    if (found.status === 404) return leave(); // nobody takes part in this run
    if (found.status === 200) take(found.body);
    else if (found.status === 0 && turn) say("The site does not answer; the run may have ended.");
    tick();
    silent = found.status === 0 ? silent + 1 : 0;
    if (silent < GIVE_UP_AFTER) timer = setTimeout(look, found.status === 0 ? 3 * EVERY_MS : EVERY_MS);
  }

  function take(next) {
    if (!next) return turn && leave();
    until = next.seconds_left === null ? null : performance.now() + next.seconds_left * 1000;
    if (turn?.turn === next.turn) return;
    turn = next;
    spoke ||= turn.lines.some(([who]) => who === turn.who);
    if (spoke) telling.fold();
    told = until === null ? [] : TOLD_AT.filter((seconds) => seconds < next.seconds_left);
    draw();
    announce(`It is your turn: ${next.who} talks with ${next.other}. ${until === null ? "" : `${Math.round(next.seconds_left)} seconds. `}The form is at “Your turn”.${next.reminder ? ` ${next.reminder}` : ""}`);
    document.title = `● Your turn, ${document.title.replace(/^● Your turn, /, "")}`;
  }

  function leave() {
    draft = parts && !parts.sent ? parts.say.value : "";
    turn = null;
    document.title = document.title.replace(/^● Your turn, /, "");
    if (draft.trim()) announce("The time is over, and this conversation has ended; nothing was said in your name. What you were writing is kept.");
    parts = null;
    section.hidden = true;
    fill(section);
    changed();
  }

  function draw() {
    const last = turn.lines[turn.lines.length - 1];
    parts = { sent: false };
    parts.clock = h("span", { class: "turn-clock", "aria-hidden": "true" });
    parts.trouble = h("div", { role: "alert" });
    parts.left = h("span", { id: "turn-left", class: "soft small" });
    parts.say = h("textarea", { id: "turn-say", rows: "3", maxlength: String(turn.characters), "aria-describedby": turn.aim ? "turn-aim turn-left" : "turn-left", oninput: count, onkeydown: keys });
    parts.emotion = h("select", { id: "turn-emotion", onchange: strength }, turn.emotions.map((emotion) => h("option", { value: emotion, selected: emotion === "neutral" }, FEELINGS[emotion] || emotion)));
    parts.intensity = h("input", { type: "range", id: "turn-intensity", min: "1", max: "10", step: "1", value: "4", oninput: strength });
    parts.number = h("output", { for: "turn-intensity" });
    parts.strength = h("span", { class: "row" }, h("label", { for: "turn-intensity" }, "How strongly"), parts.intensity, parts.number);
    parts.goodbye = h("input", { type: "checkbox", id: "turn-goodbye" });
    parts.send = h("button", { type: "submit", class: "main" }, "Say it");
    parts.more = h("button", { type: "button", onclick: prolong }, "I need more time");
    fill(section,
      h("div", { class: "turn-head" }, h("h2", { id: "turn-title" }, "Your turn"), parts.clock),
      h("p", {}, "You speak for ", h("strong", {}, said(turn.who)), ", who talks with ", h("strong", {}, said(turn.other)), " (", said(turn.place), "). ",
        until === null ? "Take the time you need; it waits for you." : "If no line comes in time, this conversation ends; nothing is said in your name."),
      turn.lines.length ? h("ol", { class: "turn-lines", tabindex: "0", "aria-label": "What was said so far" },
        turn.lines.map(([who, text]) => h("li", {}, h("strong", {}, said(who), ": "), said(text)))) : h("p", { class: "soft" }, "Nothing was said yet: you begin."),
      turn.reminder ? h("div", { class: "notice notice-danger", role: "note", "aria-label": "Open danger" }, paragraphs(turn.reminder)) : null,
      turn.aim ? h("p", { id: "turn-aim", class: "soft" }, `What ${turn.who} would do now (${turn.move}): `, said(turn.aim), " You are free to do otherwise.") : null,
      turn.memories.length ? h("details", {}, h("summary", {}, `What comes to ${turn.who}'s mind (${turn.memories.length})`), h("ul", {}, turn.memories.map((text) => h("li", {}, said(text))))) : null,
      h("form", { onsubmit: send },
        h("label", { for: "turn-say" }, last && last[0] !== turn.who ? `Your answer to ${last[0]}` : "Your line"), parts.say,
        h("p", { class: "row" }, h("label", { for: "turn-emotion" }, "You feel"), parts.emotion, parts.strength),
        turn.may_leave ? h("p", { class: "row" }, parts.goodbye, h("label", { for: "turn-goodbye" }, "Say goodbye with this line")) : null,
        h("p", { class: "row" }, parts.send, until === null ? null : parts.more, parts.left)),
      parts.trouble);
    parts.say.value = draft;
    draft = "";
    section.setAttribute("aria-labelledby", "turn-title");
    section.dataset.turn = String(turn.turn);
    section.classList.add("turn");
    section.hidden = false;
    const lines = section.querySelector(".turn-lines");
    if (lines) lines.scrollTop = lines.scrollHeight;
    strength();
    count();
    tick();
    const free = document.activeElement === document.body || document.activeElement === null;
    changed();
    if (free) parts.say.focus({ preventScroll: turn.turn === 1 }); // what is told before the first line stays in sight
  }

  function strength() {
    parts.strength.hidden = parts.emotion.value === "neutral";
    fill(parts.number, `${parts.intensity.value} of 10`);
  }

  function count() {
    keep(parts.say.value);
    const rest = turn.characters - parts.say.value.length;
    if (parts.say.value.trim()) fill(parts.trouble);
    fill(parts.left, rest < 200 ? `${rest} characters left` : "");
  }

  function keys(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.target.form.requestSubmit();
    }
  }

  /** The clock is seen each second and heard only at 60, 30 and 10 seconds. */
  function tick() {
    if (!turn || !parts || until === null) return;
    const seconds = Math.max(0, Math.ceil((until - performance.now()) / 1000));
    fill(parts.clock, seconds > 90 ? `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s` : `${seconds} s`);
    parts.clock.classList.toggle("turn-soon", seconds <= 20);
    if (told.length && seconds <= told[0]) announce(`${told.shift()} seconds left for your line.`);
  }

  async function send(event) {
    event.preventDefault();
    if (parts.sent) return;
    if (!parts.say.value.trim()) {
      say("Nothing is written yet; write what you want to say.");
      return parts.say.focus();
    }
    const mine = parts;
    if (turn.reminder && mine.goodbye.checked && !mine.warned) {
      mine.warned = true;
      return say("Danger is open. Before you part, ask about it plainly and name help by number; if this line does, or you want to part all the same, press “Say it” once more.");
    }
    mine.sent = true;
    const neutral = mine.emotion.value === "neutral";
    const found = await fetchJson(address, {
      turn: turn.turn, say: mine.say.value, emotion: mine.emotion.value, intensity: neutral ? 1 : Number(mine.intensity.value), goodbye: mine.goodbye.checked,
    });
    if (found.status === 200) {
      announce("Said.");
      keep("");
      telling.danger(found.body?.danger);
      if (parts === mine) leave();
      return;
    }
    mine.sent = false;
    say(found.body?.error || found.text || "The site does not answer.");
  }

  async function prolong() {
    const found = await fetchJson(address, { turn: turn.turn, more_time: true });
    if (found.status === 200) {
      until = performance.now() + found.body.seconds_left * 1000;
      told = TOLD_AT.filter((seconds) => seconds < found.body.seconds_left);
      announce(`${Math.round(found.body.seconds_left)} seconds left.`);
      tick();
    } else say(found.body?.error || found.text || "The site does not answer.");
  }

  function say(text) {
    if (parts) fill(parts.trouble, h("p", { class: "warn" }, said(text)));
  }
}

/** {status, body, text}; status 0 when the site does not answer. */
export async function fetchJson(address, body) {
  try {
    const reply = await fetch(address, body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    const text = await reply.text();
    try {
      return { status: reply.status, body: JSON.parse(text), text };
    } catch {
      return { status: reply.status, body: null, text };
    }
  } catch {
    return { status: 0, body: null, text: "" };
  }
}
