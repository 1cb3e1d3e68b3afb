// A participant's page: one stage after the other, as the site says.
import { ask, dialed, h, pause, prose } from "./dom.js";
import { asking } from "./questions.js";
import { chat } from "./talk.js";

const main = document.getElementById("main");
const dialog = document.getElementById("dialog");
export const page = { state: null, texts: {}, shown: "" };
const FIRST_MS = 1000, LONGEST_MS = 15000;
const WRITTEN_ON = ["consent", "about_you", "questions", "chat"];
/** Where nothing can be stored, as in some private windows, drafts live as long as the page. */
const memory = new Map();

/** As the language writes it. */
export const number = (value) => (typeof value === "number" ? new Intl.NumberFormat(page.state?.language, { useGrouping: false }).format(value) : value ?? "");
export const t = (key, slots = {}) => (page.texts[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => number(slots[name]));
export const say = (text) => { document.getElementById("live").textContent = text; };
export const heading = (text, props = {}) => h("h1", props, text);
export const trouble = (id = "problem") => h("p", { class: "problem", role: "alert", id });

/** What is not sent yet, kept on this device under the person's own mark. */
export const kept = {
  name: (key) => `${page.state?.me}/${key}`,
  get(key) {
    try { return JSON.parse(localStorage.getItem(this.name(key)) ?? "null"); } catch { return memory.get(key) ?? null; }
  },
  set(key, value) {
    memory.set(key, value);
    try { value === null ? localStorage.removeItem(this.name(key)) : localStorage.setItem(this.name(key), JSON.stringify(value)); } catch { /* kept in memory */ }
  },
  clear() {
    memory.clear();
    try { Object.keys(localStorage).filter((key) => key.startsWith(this.name(""))).forEach((key) => localStorage.removeItem(key)); } catch { /* nothing is stored */ }
  },
};

async function texts(language) {
  const found = await sure(`/api/texts?language=${language}`);
  if (found.status !== 200) return;
  page.texts = found.texts;
  document.documentElement.lang = found.language;
  document.documentElement.dir = found.dir;
}

/** Ask until the site answers; the page says that there is no connection meanwhile. */
async function sure(path, body) {
  const box = document.getElementById("offline");
  for (let ms = FIRST_MS; ; ms = Math.min(2 * ms, LONGEST_MS)) {
    const answer = await ask(path, body);
    box.hidden = answer.status !== 0 && answer.status < 500;
    if (box.hidden) return answer;
    box.textContent = page.texts.offline ?? "…";
    await pause(ms);
  }
}

export async function load() {
  const state = await sure("/api/state");
  if (state.status === 401) {
    await texts(navigator.language.slice(0, 2));
    const where = location.pathname;
    return alone(where === "/join" ? joining() : heading(where.startsWith("/t/") ? t("link_unknown") : state.error ?? "", { dir: "auto" }));
  }
  return state.stage ? show(state) : alone(heading(state.error ?? t("failed")));
}

/** One step; what is wrong with it is shown at `problem`. */
export async function step(body, problem = main.querySelector("#problem")) {
  const buttons = [...main.querySelectorAll("button")];
  buttons.forEach((one) => { one.disabled = true; });
  const answer = await sure("/api/do", body);
  buttons.forEach((one) => { one.disabled = false; });
  if (answer.stage) return show(answer).then(() => answer);
  if (answer.status === 409 || answer.status === 401) return load();
  if (problem) problem.textContent = answer.error ?? t("failed");
  return null;
}

export async function show(state) {
  page.state = state;
  if (state.language !== document.documentElement.lang || !page.texts.next) await texts(state.language);
  document.title = state.title;
  document.getElementById("title").textContent = state.title;
  document.getElementById("day").textContent = state.day ? t("day_of", state) : "";
  notice(state.notice);
  footer();
  const key = JSON.stringify(state.stage === "chat" ? [state.language, state.page.number] : [state.stage, state.language, state.page]);
  if (key === page.shown) return;
  page.shown = key;
  alone((STAGES[state.stage] ?? told)(state.page, state));
}

/** Shows it, and says whether it was not there before. */
export function notice(text) {
  const box = document.getElementById("notice");
  if (box.textContent === (text ?? "")) return false;
  box.hidden = !text;
  box.replaceChildren(...dialed(text ?? ""));
  return Boolean(text);
}

function alone(...content) {
  main.replaceChildren(...content.flat(Infinity).filter(Boolean));
  main.querySelector("h1")?.setAttribute("tabindex", "-1");
  (main.querySelector("h1") ?? main).focus({ preventScroll: true });
  scrollTo(0, 0);
}

const row = (...buttons) => h("div", { class: "row" }, buttons);
const button = (label, onclick, props = { class: "main" }) => h("button", { type: "button", onclick, ...props }, label);
const hidden = () => heading(page.state.title, { class: "hidden" });

function joining() {
  const problem = trouble();
  const begin = async () => {
    const answer = await sure("/api/join", { query: location.search });
    if (answer.ok) location.replace("/take");
    else problem.textContent = answer.error ?? t("failed");
  };
  return [heading(t("join_title")), h("p", {}, t("join_text")), problem, row(button(t("join_button"), begin))];
}

const STAGES = {
  language: (_, state) => [heading(t("choose_language")), row(state.languages.map(([code, name]) => button(name, () => step({ do: "language", language: code }), { lang: code }))), trouble()],
  information: (content, state) => [heading(state.title), prose(content.text), trouble(), row(button(t("next"), () => step({ do: "information" })))],
  consent: consenting,
  about_you: naming,
  questions: asking,
  chat,
  wait: (content) => [hidden(), prose(content.text), content.again && h("p", { class: "soft" }, t("again", { when: new Date(content.again).toLocaleString(page.state.language, { dateStyle: "full", timeStyle: "short" }) }))],
  done: (content) => [hidden(), prose(content.text), content.code && h("p", {}, t("finish_code"), " ", h("span", { class: "code" }, content.code)), content.url && h("p", {}, h("a", { href: content.url }, t("finish_link")))],
};
const told = (content) => [hidden(), prose(content.text ?? "")];

function consenting(content) {
  const boxes = content.items.map(([id]) => h("input", { type: "checkbox", name: id, "aria-describedby": "problem" }));
  const give = (agree) => {
    const open = boxes.find((one) => !one.checked);
    if (agree && open) open.focus();
    if (agree || confirm(t("decline_sure"))) step({ do: "consent", agree, version: content.version, ticked: boxes.filter((one) => one.checked).map((one) => one.name) });
  };
  return [heading(t("consent_title")), prose(content.text), boxes.map((box, at) => h("label", { class: "choice", dir: "auto" }, box, h("span", {}, content.items[at][1]))), trouble(), row(button(t("agree"), () => give(true)), button(t("decline"), () => give(false), {}))];
}

function naming(content) {
  const field = h("input", { type: "text", id: "name", maxlength: 30, autocomplete: "off", dir: "auto", value: kept.get("name") ?? content.names[0] ?? "", "aria-describedby": "name-hint problem", oninput: () => kept.set("name", field.value) });
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const send = async (event) => {
    event.preventDefault();
    const taken = await step({ do: "about_you", name: field.value, zone, offset_min: -new Date().getTimezoneOffset() });
    if (taken) kept.set("name", null);
    else field.focus();
  };
  const offer = (name) => button(name, () => { field.value = name; kept.set("name", name); }, {});
  return h("form", { onsubmit: send, novalidate: true }, heading(t("about_you")), h("p", { id: "name-hint" }, t("about_you_text")), h("div", { class: "field" }, h("label", { for: "name" }, t("name")), field, row(content.names.map(offer))), trouble(), h("button", { class: "main" }, t("next")));
}

/** The help lines, from anywhere. */
export const helping = () => open(t("help_title"), h("p", {}, t("help_text")), h("p", { class: "help" }, dialed(page.state.help)));

function footer() {
  const over = ["withdrawn", "declined"].includes(page.state.stage);
  document.getElementById("footer").replaceChildren(
    button(t("help_now"), helping, { class: "link" }), h("span", { class: "soft" }, `${t("contact")}: `, h("bdi", {}, page.state.contact)), ...(over ? [] : [button(t("stop"), stopping, { class: "link" })]),
  );
}

function open(title, ...content) {
  dialog.replaceChildren(h("h2", { id: "dialog-title" }, title), ...content.flat(), row(button(t("close"), () => dialog.close(), {})));
  dialog.showModal();
}

function stopping() {
  const stop = (remove) => async () => {
    if (remove && !confirm(t("stop_sure"))) return;
    dialog.close();
    const left = await step({ do: "withdraw", delete: remove });
    if (left && remove) kept.clear();
  };
  open(t("stop_title"), h("p", {}, t("stop_text")), row(button(t("stop_keep"), stop(false), {}), button(t("stop_delete"), stop(true), {})));
}

// Who comes back to a page that only tells something sees what has changed since.
document.addEventListener("visibilitychange", () => { if (!document.hidden && page.state && !WRITTEN_ON.includes(page.state.stage)) load(); });
load();
