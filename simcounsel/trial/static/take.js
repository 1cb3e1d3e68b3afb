// A participant's page: one stage after the other, as the site says.
import { ask, h, prose, wait } from "./dom.js";
import { chat } from "./talk.js";

const main = document.getElementById("main");
const dialog = document.getElementById("dialog");
export const page = { state: null, texts: {}, shown: "" };
const FIRST_MS = 1000, LONGEST_MS = 15000;

export const t = (key, slots = {}) => (page.texts[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => slots[name] ?? "");
export const say = (text) => { document.getElementById("live").textContent = text; };
/** What is not sent yet, kept on this device under the person's own mark. */
export const kept = {
  get: (key) => JSON.parse(localStorage.getItem(`${page.state?.me}/${key}`) ?? "null"),
  set: (key, value) => (value === null ? localStorage.removeItem(`${page.state?.me}/${key}`) : localStorage.setItem(`${page.state?.me}/${key}`, JSON.stringify(value))),
};

async function texts(language) {
  const found = await ask(`/api/texts?language=${language}`);
  if (found.status !== 200) return;
  page.texts = found.texts;
  document.documentElement.lang = found.language;
  document.documentElement.dir = found.dir;
}

/** Ask until the site answers; the page says that there is no connection meanwhile. */
async function sure(path, body) {
  for (let pause = FIRST_MS; ; pause = Math.min(2 * pause, LONGEST_MS)) {
    const answer = await ask(path, body);
    if (answer.status !== 0 && answer.status < 500) return answer;
    say(t("offline"));
    await wait(pause);
  }
}

export async function load() {
  const state = await sure("/api/state");
  if (state.status === 401) {
    await texts(navigator.language.slice(0, 2));
    return alone(location.pathname === "/join" ? joining() : prose(state.error));
  }
  return show(state);
}

/** One step; what is wrong with it is shown at `problem`. */
export async function step(body, problem) {
  const buttons = [...main.querySelectorAll("button")];
  buttons.forEach((one) => { one.disabled = true; });
  const answer = await sure("/api/do", body);
  buttons.forEach((one) => { one.disabled = false; });
  if (answer.stage) return show(answer);
  if (answer.status === 409) return load();
  if (problem) problem.textContent = answer.error ?? t("failed");
  return null;
}

export async function show(state) {
  if (state.language !== document.documentElement.lang || !page.texts.next) await texts(state.language);
  page.state = state;
  document.title = state.title;
  document.getElementById("title").textContent = state.title;
  document.getElementById("day").textContent = state.day ? t("day_of", state) : "";
  notice(state.notice);
  footer();
  const key = JSON.stringify([state.stage, state.page.id, state.page.point, state.page.number]);
  if (key === page.shown && state.stage === "chat") return;
  page.shown = key;
  alone((STAGES[state.stage] ?? told)(state.page, state));
}

export function notice(text) {
  const box = document.getElementById("notice");
  box.hidden = !text;
  if (box.textContent !== (text ?? "")) box.textContent = text ?? "";
}

function alone(...content) {
  main.replaceChildren(...content.flat(Infinity));
  main.querySelector("h1")?.setAttribute("tabindex", "-1");
  (main.querySelector("h1") ?? main).focus({ preventScroll: true });
  scrollTo(0, 0);
}

const heading = (text) => h("h1", {}, text);
const trouble = () => h("p", { class: "problem", role: "alert" });
const next = (body, label = t("next")) => h("div", { class: "row" }, h("button", { class: "main", type: "button", onclick: () => step(body) }, label));

function joining() {
  const problem = trouble();
  const begin = async () => {
    const answer = await sure("/api/join", { query: location.search });
    if (answer.ok) location.replace("/take");
    else problem.textContent = answer.error;
  };
  return [heading(t("join_title")), h("p", {}, t("join_text")), problem, h("div", { class: "row" }, h("button", { class: "main", type: "button", onclick: begin }, t("join_button")))];
}

const STAGES = {
  language: (_, state) => [heading(t("choose_language")), h("div", { class: "row" }, state.languages.map(([code, name]) => h("button", { type: "button", lang: code, onclick: () => step({ do: "language", language: code }) }, name)))],
  information: (content, state) => [heading(state.title), prose(content.text), next({ do: "information" })],
  consent: consenting,
  about_you: naming,
  questions: asking,
  chat,
  wait: (content) => [prose(content.text), content.again && h("p", { class: "soft" }, t("again", { when: new Date(content.again).toLocaleString(page.state.language, { dateStyle: "full", timeStyle: "short" }) }))],
  done: (content) => [prose(content.text), content.code && h("p", {}, t("finish_code"), " ", h("span", { class: "code" }, content.code)), content.url && h("p", {}, h("a", { href: content.url }, t("finish_link")))],
};
const told = (content) => prose(content.text ?? "");

function consenting(content, state) {
  const boxes = content.items.map(([id, text]) => h("label", { class: "choice" }, h("input", { type: "checkbox", name: id }), text));
  const problem = trouble();
  const give = (agree) => step({ do: "consent", agree, version: content.version, ticked: boxes.map((one) => one.firstChild).filter((one) => one.checked).map((one) => one.name) }, problem);
  return [heading(state.title), prose(content.text), boxes, problem, h("div", { class: "row" }, h("button", { class: "main", type: "button", onclick: () => give(true) }, t("agree")), h("button", { type: "button", onclick: () => give(false) }, t("decline")))];
}

function naming(content) {
  const field = h("input", { type: "text", id: "name", maxlength: 30, autocomplete: "off", value: content.names[0] ?? "", "aria-describedby": "name-problem" });
  const problem = h("p", { class: "problem", role: "alert", id: "name-problem" });
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const send = (event) => { event.preventDefault(); step({ do: "about_you", name: field.value, zone, offset_min: -new Date().getTimezoneOffset() }, problem); };
  return h("form", { onsubmit: send, novalidate: true }, heading(t("about_you")), h("p", {}, t("about_you_text")), h("div", { class: "field" }, h("label", { for: "name" }, t("name")), field, h("div", { class: "row" }, content.names.map((name) => h("button", { type: "button", onclick: () => { field.value = name; } }, name)))), problem, h("button", { class: "main" }, t("next")));
}

function asking(content, state) {
  const key = `answers/${content.id}/${content.point}`;
  const begun = Date.now();
  const before = kept.get(key) ?? {};
  const problem = trouble();
  const form = h("form", { novalidate: true });
  const read = () => Object.fromEntries(content.items.map((item) => [item.id, answer(form, item)]));
  form.addEventListener("input", () => kept.set(key, read()));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answers = read();
    const open = content.items.filter((item) => answers[item.id] === undefined || (answers[item.id] === "" && !item.optional));
    form.querySelectorAll("[aria-invalid]").forEach((one) => one.removeAttribute("aria-invalid"));
    if (open.length) {
      const first = form.querySelector(`[data-item="${open[0].id}"]`);
      first.setAttribute("aria-invalid", "true");
      problem.textContent = `${t("answer_needed")} (${open[0].text})`;
      first.querySelector("input, textarea").focus();
      return;
    }
    const state = await step({ do: "answers", id: content.id, point: content.point, answers, seconds: (Date.now() - begun) / 1000 }, problem);
    if (state !== null) kept.set(key, null);
  });
  form.append(
    ...[state.progress && h("p", { class: "soft" }, t("page_of", { n: state.progress[0], of: state.progress[1] })), content.title ? heading(content.title) : heading(content.instruction), content.title && content.instruction && h("p", {}, content.instruction)].filter(Boolean),
    ...content.items.map((item) => question(item, before[item.id])), problem, h("button", { class: "main" }, t("next")),
  );
  return form;
}

function question(item, before) {
  const chosen = (value) => (Array.isArray(before) ? before.includes(value) : before === value);
  const radio = (value, label, type = "radio") => h("label", { class: "choice" }, h("input", { type, name: item.id, "data-value": JSON.stringify(value), checked: chosen(value) }), label);
  const skip = item.may_skip && radio(null, t("skip"));
  const set = (...inner) => h("fieldset", { "data-item": item.id }, h("legend", {}, item.text), inner);
  if (item.kind === "choice") return set(item.choices.map(([value, label]) => radio(value, label)), skip);
  if (item.kind === "several") return set(item.choices.map(([value, label]) => radio(value, label, "checkbox")));
  if (item.kind === "scale") {
    const values = Array.from({ length: item.high - item.low + 1 }, (_, at) => item.low + at);
    return set(h("div", { class: "ends", "aria-hidden": "true" }, h("span", {}, item.low_label), h("span", {}, item.high_label)), h("div", { class: "scale" }, values.map((value) => h("label", {}, h("input", { type: "radio", name: item.id, "data-value": value, checked: chosen(value), "aria-label": [value, value === item.low && item.low_label, value === item.high && item.high_label].filter((one) => one || one === 0).join(" ") }), value))), skip);
  }
  const hint = item.kind === "number" ? t("between", item) : item.optional ? t("leave_open") : "";
  const field = item.kind === "number" ? h("input", { type: "number", inputmode: "numeric", min: item.low, max: item.high, id: item.id, value: before ?? "" }) : h("textarea", { id: item.id, rows: item.lines, maxlength: 2000, value: before ?? "" });
  return h("div", { class: "field", "data-item": item.id }, h("label", { for: item.id }, item.text), hint && h("p", { class: "soft" }, hint), field);
}

/** What was answered; undefined: nothing. */
function answer(form, item) {
  const inputs = [...form.querySelectorAll(`[data-item="${item.id}"] input, [data-item="${item.id}"] textarea`)];
  if (item.kind === "number") return inputs[0].value === "" ? (item.optional ? null : undefined) : Number(inputs[0].value);
  if (item.kind === "text") return inputs[0].value;
  const chosen = inputs.filter((one) => one.checked).map((one) => JSON.parse(one.dataset.value));
  if (item.kind === "several") return chosen;
  return chosen.length ? chosen[0] : item.optional ? null : undefined;
}

function footer() {
  const over = ["withdrawn", "declined"].includes(page.state.stage);
  document.getElementById("footer").replaceChildren(
    h("button", { class: "link", type: "button", onclick: () => open(t("help_title"), h("p", {}, t("help_text")), h("p", { class: "help", dir: "auto" }, page.state.help)) }, t("help_now")),
    h("span", { class: "soft" }, `${t("contact")}: `, h("bdi", {}, page.state.contact)),
    ...(over ? [] : [h("button", { class: "link", type: "button", onclick: stopping }, t("stop"))]),
  );
}

function open(title, ...content) {
  dialog.replaceChildren(h("h2", { id: "dialog-title" }, title), ...content.flat(), h("div", { class: "row" }, h("button", { type: "button", onclick: () => dialog.close() }, t("close"))));
  dialog.showModal();
}

function stopping() {
  const stop = (remove) => () => {
    if (remove && !confirm(t("stop_sure"))) return;
    dialog.close();
    if (remove) Object.keys(localStorage).filter((key) => key.startsWith(`${page.state.me}/`)).forEach((key) => localStorage.removeItem(key));
    step({ do: "withdraw", delete: remove });
  };
  open(t("stop_title"), h("p", {}, t("stop_text")), h("div", { class: "row" }, h("button", { type: "button", onclick: stop(false) }, t("stop_keep")), h("button", { type: "button", onclick: stop(true) }, t("stop_delete"))));
}

load();
