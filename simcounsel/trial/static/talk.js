// The talk: lines as they come, and a box to write in; what was not sent yet is kept and sent again.
import { ask, h, wait } from "./dom.js";
import { kept, load, notice, page, say, step, t } from "./take.js";

const RETRY_MS = [500, 1000, 2000, 5000, 10000];

export function chat(content) {
  const talk = { seen: 0, over: false, awaiting: content.awaiting, unsent: kept.get("unsent") ?? [], list: h("ol", { class: "talk", "aria-label": t("you") }), number: content.number };
  const box = h("textarea", { id: "say", rows: 2, maxlength: content.characters, "aria-label": t("write"), placeholder: t("write"), value: kept.get("draft") ?? "", oninput: () => kept.set("draft", box.value || null) });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && matchMedia("(hover: hover)").matches) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  const button = h("button", { class: "main" }, t("send"));
  const form = h("form", { class: "say", onsubmit: (event) => { event.preventDefault(); send(talk, box); } }, box, button);
  const writing = h("p", { class: "writing", "aria-hidden": "true" });
  const note = h("p", { class: "note", role: "status", hidden: true });
  const end = h("button", { class: "link", type: "button", onclick: () => confirm(t("end_sure")) && step({ do: "end_talk" }).then(() => load()) }, t("end_talk"));
  Object.assign(talk, { box, button, form, writing, note, end, after: h("div", { class: "row" }) });
  draw(talk, content);
  follow(talk);
  return [h("h1", { class: "hidden" }, t("day_of", page.state)), talk.list, writing, note, form, talk.after, end];
}

/** What the site says of the talk. */
function draw(talk, found) {
  const waiting = new Set(talk.unsent.map((one) => one.id));
  for (const line of found.lines) {
    if (line.n <= talk.seen) continue;
    talk.seen = line.n;
    if (waiting.delete(line.id)) forget(talk, line.id);
    talk.list.append(h("li", { class: line.who }, line.who !== "note" && h("span", { class: "hidden" }, `${t(line.who === "me" ? "you" : "other")}: `), h("div", { dir: "auto" }, line.text)));
    if (line.who !== "me") say(line.text);
  }
  talk.list.querySelectorAll("[data-unsent]").forEach((one) => one.remove());
  for (const one of talk.unsent) talk.list.append(h("li", { class: "me", "data-unsent": one.id }, h("div", { dir: "auto" }, one.text), h("small", {}, t("not_sent"))));
  talk.awaiting = found.awaiting && !talk.unsent.length;
  talk.over = found.over;
  talk.button.disabled = !talk.awaiting;
  talk.form.hidden = talk.end.hidden = found.over;
  talk.end.hidden ||= !found.may_end;
  talk.writing.textContent = !found.over && !found.awaiting ? t("writing") : "";
  talk.note.hidden = !found.note;
  talk.note.textContent = found.note ?? "";
  notice(found.notice);
  if (found.over) talk.after.replaceChildren(h("p", {}, t("over")), h("button", { class: "main", type: "button", onclick: () => step({ do: "next" }) }, t("go_on")));
  if (found.lines.length || talk.unsent.length) talk.form.scrollIntoView({ block: "end" });
}

/** Ask for news as long as this talk is on the page. */
async function follow(talk) {
  await wait(0);
  for (let tries = 0; talk.list.isConnected && !talk.over; ) {
    if (talk.unsent.length) await resend(talk);
    const found = await ask(`/api/talk?after=${talk.seen}`);
    if (!talk.list.isConnected) return;
    if (found.status === 200) {
      tries = 0;
      if (found.stage !== "chat" || (found.number && found.number !== talk.number)) return load();
      draw(talk, found);
      if (found.note || found.awaiting) await wait(found.note ? 3000 : 200);
    } else if (found.status === 401) return load();
    else {
      talk.note.hidden = false;
      talk.note.textContent = t("offline");
      await wait(RETRY_MS[Math.min(tries++, RETRY_MS.length - 1)]);
    }
  }
}

async function send(talk, box) {
  const text = box.value.trim();
  if (!text || !talk.awaiting) return;
  talk.unsent.push({ id: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`, text });
  kept.set("unsent", talk.unsent);
  kept.set("draft", null);
  box.value = "";
  draw(talk, { lines: [], awaiting: true, over: false, notice: page.state.notice, may_end: true });
  box.focus();
  await resend(talk);
}

async function resend(talk) {
  for (const one of [...talk.unsent]) {
    const answer = await ask("/api/say", one);
    if (answer.status === 0 || answer.status >= 500 || answer.status === 429) return;
    if (answer.status === 409 || answer.status === 422) {
      talk.box.value = [one.text, talk.box.value].filter(Boolean).join("\n");
      kept.set("draft", talk.box.value);
      talk.note.hidden = false;
      talk.note.textContent = answer.error;
    }
    forget(talk, one.id);
  }
}

function forget(talk, id) {
  talk.unsent = talk.unsent.filter((one) => one.id !== id);
  kept.set("unsent", talk.unsent.length ? talk.unsent : null);
}
