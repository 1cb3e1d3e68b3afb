// The talk: lines as they come, and a box to write in; what was not sent yet is kept and sent again.
import { ask, h, pause, wait, way } from "./dom.js";
import { heading, helping, kept, load, notice, number, page, say, step, t } from "./take.js";

const RETRY_MS = [500, 1000, 2000, 5000, 10000];
const NEAR_PX = 160;
const later = (tries) => pause(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]);

export function chat(content) {
  const talk = { seen: 0, over: false, awaiting: content.awaiting, number: content.number, most: content.characters, sending: false, drawn: false, held: false, unsent: [] };
  restore(talk);
  talk.list = h("ol", { class: "talk", "aria-label": t("talk") });
  talk.writing = h("p", { class: "writing", "aria-hidden": "true" });
  talk.note = h("p", { class: "note", role: "status", hidden: true });
  talk.problem = h("p", { class: "problem", role: "alert", id: "say-problem" });
  talk.box = h("textarea", { id: "say", rows: 2, dir: "auto", "aria-label": t("write"), "aria-describedby": "say-problem", placeholder: t("write"), value: kept.get("draft") ?? "", oninput: () => written(talk), onkeydown: (event) => entered(event, talk) });
  talk.button = h("button", { class: "main" }, t("send"));
  talk.form = h("form", { class: "say", onsubmit: (event) => { event.preventDefault(); send(talk); } }, talk.box, talk.button);
  talk.help = h("button", { type: "button", class: "warn", hidden: true, onclick: helping }, t("help_now"));
  talk.end = h("button", { class: "link", type: "button", onclick: () => confirm(t("end_sure")) && step({ do: "end_talk" }, talk.problem).then(() => load()) }, t("end_talk"));
  talk.after = h("div", { class: "row" });
  draw(talk, content);
  follow(talk);
  return [heading(t("day_of", page.state), { class: "hidden" }), talk.list, talk.writing, talk.note, h("div", { class: "foot" }, talk.help, talk.problem, talk.form), talk.after, talk.end];
}

/** Lines that were not sent: those of an earlier talk become the draft of this one. */
function restore(talk) {
  const left = kept.get("unsent") ?? [];
  talk.unsent = left.filter((one) => one.talk === talk.number);
  const old = left.filter((one) => one.talk !== talk.number).map((one) => one.text);
  if (old.length) kept.set("draft", [...old, kept.get("draft")].filter(Boolean).join("\n"));
  keep(talk);
}

const keep = (talk) => kept.set("unsent", talk.unsent.length ? talk.unsent : null);

function written(talk) {
  kept.set("draft", talk.box.value || null);
  const long = talk.box.value.trim().length > talk.most;
  talk.problem.textContent = long ? `${t("too_long")} (${number(talk.box.value.trim().length)})` : "";
  long ? talk.box.setAttribute("aria-invalid", "true") : talk.box.removeAttribute("aria-invalid");
}

function entered(event, talk) {
  const composing = event.isComposing || event.keyCode === 229;
  if (event.key !== "Enter" || event.shiftKey || composing || !matchMedia("(hover: hover)").matches) return;
  event.preventDefault();
  talk.form.requestSubmit();
}

/** What the site says of the talk. */
function draw(talk, found) {
  const near = document.documentElement.scrollHeight - innerHeight - scrollY < NEAR_PX;
  const fresh = found.lines.filter((line) => line.n > talk.seen);
  for (const line of fresh) {
    talk.seen = line.n;
    talk.unsent = talk.unsent.filter((one) => one.id !== line.id);
    talk.list.append(h("li", { class: line.who }, line.who !== "note" && h("span", { class: "hidden" }, `${t(line.who === "me" ? "you" : "other")}: `), h("div", { dir: way(line.text) }, line.text)));
  }
  if (fresh.length) keep(talk);
  if (talk.drawn) say(fresh.filter((line) => line.who !== "me").map((line) => line.text).join("\n"));
  talk.awaiting = found.awaiting;
  talk.over = found.over;
  waiting(talk);
  talk.form.hidden = talk.problem.hidden = found.over;
  talk.end.hidden = found.over || !found.may_end;
  talk.writing.textContent = !found.over && !found.awaiting ? t("writing") : "";
  talk.note.hidden = !found.note;
  talk.note.textContent = found.note ?? "";
  talk.help.hidden = !found.notice;
  if (found.over) talk.after.replaceChildren(h("p", {}, t("over")), h("button", { class: "main", type: "button", onclick: () => step({ do: "next" }, talk.problem) }, t("go_on")));
  if (notice(found.notice) && talk.drawn) {
    talk.held = true; // the help lines stay on the screen until the person writes again
    document.getElementById("notice").scrollIntoView({ block: "start" });
  } else if (fresh.length && !talk.held && (near || !talk.drawn)) down(talk);
  talk.drawn = true;
}

const down = (talk) => requestAnimationFrame(() => { if (talk.list.isConnected && !talk.held) scrollTo(0, document.documentElement.scrollHeight); });

/** Lines that are not sent yet, with their mark; nothing else is sent before they are. */
function waiting(talk) {
  talk.list.querySelectorAll("[data-unsent]").forEach((one) => one.remove());
  for (const one of talk.unsent) talk.list.append(h("li", { class: "me", "data-unsent": one.id }, h("div", { dir: way(one.text) }, one.text), h("small", {}, t("not_sent"))));
  talk.button.disabled = !talk.awaiting || talk.unsent.length > 0;
}

/** Ask for news as long as this talk is on the page. */
async function follow(talk) {
  await wait(0);
  resend(talk);
  for (let tries = 0; talk.list.isConnected && !talk.over; ) {
    const found = await ask(`/api/talk?after=${talk.seen}`);
    if (!talk.list.isConnected) return;
    if (found.status === 200) {
      tries = 0;
      if (found.stage !== "chat" || (found.number && found.number !== talk.number)) return load();
      draw(talk, found);
      await wait(found.note ? 3000 : 200);
    } else if (found.status === 401) return load();
    else {
      talk.note.hidden = false;
      talk.note.textContent = t("offline");
      await later(tries++);
    }
  }
}

function send(talk) {
  const text = talk.box.value.trim();
  if (!text || talk.button.disabled || text.length > talk.most) return;
  talk.unsent.push({ id: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`, text, talk: talk.number });
  keep(talk);
  talk.held = false;
  talk.box.value = "";
  written(talk);
  waiting(talk);
  down(talk);
  talk.box.focus();
  resend(talk);
}

/** Send until all is kept; what the site does not take goes back into the box. */
async function resend(talk) {
  if (talk.sending) return;
  talk.sending = true;
  for (let tries = 0; talk.unsent.length && talk.list.isConnected; ) {
    const [one] = talk.unsent;
    const answer = await ask("/api/say", { id: one.id, text: one.text });
    if (answer.kept) {
      talk.unsent = talk.unsent.filter((other) => other.id !== one.id);
      keep(talk);
      talk.awaiting = false; // until the site says otherwise
      talk.button.disabled = true;
      talk.list.querySelector(`[data-unsent="${one.id}"] small`)?.remove();
    } else if (answer.status === 409 || answer.status === 422) back(talk, one, answer.error);
    else if (answer.status === 401) return load();
    else await later(tries++);
  }
  talk.sending = false;
}

function back(talk, one, why) {
  talk.unsent = talk.unsent.filter((other) => other.id !== one.id);
  keep(talk);
  talk.box.value = [one.text, talk.box.value].filter(Boolean).join("\n");
  written(talk);
  waiting(talk);
  talk.problem.textContent ||= why ?? t("failed");
}
