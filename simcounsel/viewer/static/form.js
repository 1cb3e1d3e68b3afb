// A questionnaire that the person in a seat answers: its items, how many are answered, and that any may be left out.

import { announce, fill, h, said } from "./dom.js";
import { fetchJson } from "./turn.js";

const EVERY_MS = 1000;
const WORDS = {
  en: {
    title: "A few questions", who: (who) => `You answer for ${who}. No model answers in your place.`, leave: "Prefer not to answer", rest: "Prefer not to answer the rest",
    done: (n, of) => `${n} of ${of} answered`, send: "Send my answers", open: (n) => `Not answered yet: ${n}. Answer, or choose “Prefer not to answer”.`, number: (low, high) => `A number from ${low} to ${high}`,
    left: (seconds) => `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s left`, more: "I need more time", over: "The time is over; these questions count as not answered.", gone: "The site does not answer; the run may have ended.", sent: "Sent.",
  },
  zh: {
    title: "几个问题", who: (who) => `您代表${who}作答，不会由模型代答。`, leave: "不愿回答", rest: "其余的都不愿回答",
    done: (n, of) => `已答 ${n} / ${of} 题`, send: "提交答案", open: (n) => `还有 ${n} 题未答。请作答，或选择“不愿回答”。`, number: (low, high) => `从 ${low} 到 ${high} 的数字`,
    left: (seconds) => `还剩 ${Math.floor(seconds / 60)} 分 ${String(seconds % 60).padStart(2, "0")} 秒`, more: "我需要更多时间", over: "时间已到，这些问题按未作答处理。", gone: "网站没有回应，模拟可能已经结束。", sent: "已提交。",
  },
};

/** Render into `section`, which stays hidden while nothing is asked. kept: the draft of {item: answer} of a page that was left; keep(text): is told of it; danger(text): shows help lines; changed(): a questionnaire came or went. */
export function mountForm(section, { address, kept = "", keep = () => {}, danger = () => {}, changed = () => {} }) {
  let form = null;
  let parts = null;
  let until = null;
  let given = {};
  section.hidden = true;
  look();

  async function look() {
    const found = await fetchJson(address);
    if (found.status === 200) take(found.body);
    else if (form) trouble(form.words.gone);
    tick();
    setTimeout(look, found.status === 200 ? EVERY_MS : 3 * EVERY_MS);
  }

  function take(next) {
    if (!next) return form && leave(form.words.over);
    until = next.seconds_left === null ? null : performance.now() + next.seconds_left * 1000;
    if (form?.turn === next.turn) return;
    form = { ...next, words: WORDS[next.language] || WORDS.en };
    given = restored();
    draw();
    announce(`${form.words.title}. ${form.instruction}`);
    document.title = `● ${form.words.title}, ${document.title.replace(/^● [^,]*, /, "")}`;
  }

  function leave(why) {
    form = null;
    parts = null;
    document.title = document.title.replace(/^● [^,]*, /, "");
    announce(why);
    section.hidden = true;
    fill(section);
    changed();
  }

  function draw() {
    const words = form.words;
    parts = {
      clock: h("span", { class: "turn-clock", "aria-hidden": "true" }), count: h("output", { class: "small" }), trouble: h("div", { role: "alert" }),
      bar: h("progress", { max: String(form.items.length), value: 0, "aria-label": words.done(0, form.items.length) }),
      send: h("button", { type: "submit", class: "main" }, words.send),
    };
    fill(section,
      h("div", { class: "turn-head" }, h("h2", { id: "form-title", tabindex: "-1" }, words.title), parts.clock),
      h("p", { class: "soft small" }, said(words.who(form.who))),
      h("p", { class: "form-instruction" }, said(form.instruction)),
      h("p", { class: "form-progress row" }, parts.bar, parts.count),
      h("form", { novalidate: true, onsubmit: send, onchange: count, oninput: count },
        h("ol", { class: "form-items" }, form.items.map((one) => h("li", {}, item(one)))),
        parts.trouble,
        h("p", { class: "row" }, parts.send, h("button", { type: "button", onclick: skip }, words.rest), until === null ? null : h("button", { type: "button", onclick: prolong }, words.more))));
    section.lang = form.language;
    section.setAttribute("aria-labelledby", "form-title");
    section.dataset.turn = String(form.turn);
    section.hidden = false;
    count();
    tick();
    changed();
    if (document.activeElement === document.body || !document.activeElement) section.querySelector("#form-title").focus({ preventScroll: form.turn === 1 }); // what is told before the first stays in sight
  }

  /** The answers to an item side by side; of a long scale a number to be written. */
  function item(one) {
    const name = `form-${one.id}`;
    const radio = (value, label, more = "") => h("label", { class: `form-choice ${more}` }, h("input", { type: "radio", name, value, checked: given[name] === value, oninput: clear }), h("span", {}, label));
    const answers = one.choices.map(([value, label]) => radio(String(value), label ? (bare(one) ? [h("b", {}, String(value)), " ", said(label)] : said(label)) : h("b", {}, String(value))));
    const written = /^-?\d/.test(given[name] || "") ? given[name] : "";
    const number = h("label", { class: "form-number" }, `${form.words.number(one.low, one.high)} `, h("input", { type: "number", name, min: String(one.low), max: String(one.high), step: String(one.step), value: written, oninput: clear }));
    const none = radio("", form.words.leave, "form-none soft");
    return h("fieldset", { class: bare(one) ? "form-bare" : "" }, h("legend", {}, said(one.text)), h("div", { class: "form-choices" }, answers.length ? answers : number, none));
  }

  /** A written number and “prefer not to answer” put each other out. */
  function clear({ target }) {
    const others = [...target.closest("fieldset").querySelectorAll("input")].filter((one) => one.type !== target.type);
    for (const one of others) {
      if (one.type === "radio") one.checked = false;
      else one.value = "";
    }
  }

  /** Whether some answers have no name, so that their numbers must be seen. */
  function bare(one) {
    return one.choices.some(([, label]) => !label);
  }

  /** {item's id: number or null}; what is not answered yet is not in it. */
  function answers() {
    const found = {};
    for (const one of form.items) {
      const inputs = [...section.querySelectorAll(`input[name="form-${one.id}"]`)];
      const chosen = inputs.find((input) => (input.type === "radio" ? input.checked : input.value !== ""));
      if (chosen) found[one.id] = chosen.value === "" ? null : Number(chosen.value);
    }
    return found;
  }

  function count() {
    const found = answers();
    const done = Object.keys(found).length;
    parts.bar.value = done;
    fill(parts.count, form.words.done(done, form.items.length));
    parts.bar.setAttribute("aria-label", parts.count.textContent);
    keep(JSON.stringify(found));
    if (done === form.items.length) fill(parts.trouble);
  }

  /** What a page that was left had chosen, by the names of the inputs. */
  function restored() {
    try {
      const found = JSON.parse(kept || "{}");
      kept = "";
      return Object.fromEntries(Object.entries(found).map(([id, value]) => [`form-${id}`, value === null ? "" : String(value)]));
    } catch {
      return {};
    }
  }

  function skip() {
    const found = answers();
    for (const one of form.items) if (!(one.id in found)) section.querySelector(`input[type=radio][name="form-${one.id}"][value=""]`).checked = true;
    count();
    parts.send.focus();
  }

  async function send(event) {
    event.preventDefault();
    if (!parts || parts.sent) return;
    const found = answers();
    const open = form.items.find((one) => !(one.id in found));
    if (open) {
      trouble(form.words.open(form.items.length - Object.keys(found).length));
      return section.querySelector(`input[name="form-${open.id}"]`).focus();
    }
    parts.sent = true;
    const reply = await fetchJson(address, { turn: form.turn, answers: found });
    if (reply.status === 200) {
      keep("");
      danger(reply.body?.danger);
      return form && leave(form.words.sent);
    }
    if (parts) parts.sent = false;
    trouble(reply.body?.error || reply.text || form.words.gone);
  }

  async function prolong() {
    const found = await fetchJson(address, { turn: form.turn, more_time: true });
    if (found.status !== 200) return trouble(found.body?.error || found.text || form.words.gone);
    until = performance.now() + found.body.seconds_left * 1000;
    tick();
  }

  function tick() {
    if (!form || until === null) return;
    const seconds = Math.max(0, Math.ceil((until - performance.now()) / 1000));
    fill(parts.clock, form.words.left(seconds));
    parts.clock.classList.toggle("turn-soon", seconds <= 20);
  }

  function trouble(text) {
    if (parts) fill(parts.trouble, h("p", { class: "warn" }, said(text)));
  }
}
