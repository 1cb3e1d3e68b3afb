// A page of questions; answers are kept on this device until they are taken.
import { h } from "./dom.js";
import { heading, kept, number, step, t, trouble } from "./take.js";

const TEXT_CHARACTERS = 2000;
const DIGITS = "۰۱۲۳۴۵۶۷۸۹٠١٢٣٤٥٦٧٨٩";

export function asking(content, state) {
  const key = `answers/${content.id}/${content.point}`;
  const begun = Date.now(), before = kept.get(key) ?? {};
  const form = h("form", { novalidate: true });
  const read = () => Object.fromEntries(content.items.map((item) => [item.id, answered(form, item)]));
  const problem = trouble();
  form.addEventListener("input", () => kept.set(key, read()));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answers = read();
    if (!checked(form, content.items, answers, problem)) return;
    const taken = await step({ do: "answers", id: content.id, point: content.point, answers, seconds: (Date.now() - begun) / 1000 }, problem);
    if (taken) kept.set(key, null);
  });
  const [first, second] = content.title ? [content.title, content.instruction] : [content.instruction, ""];
  form.append(...[
    state.progress && h("p", { class: "soft" }, t("page_of", { n: state.progress[0], of: state.progress[1] })), heading(first), second && h("p", {}, second),
    ...content.items.map((item) => question(item, before[item.id])), problem, h("button", { class: "main" }, t("next")),
  ].filter(Boolean));
  return form;
}

/** Whether all is answered; each question that is not says so, and the first has the focus. */
function checked(form, items, answers, problem) {
  const wrong = items.map((item) => [item, fault(item, answers[item.id])]).filter(([, why]) => why);
  for (const item of items) {
    const why = wrong.find(([one]) => one === item)?.[1] ?? "";
    document.getElementById(`${item.id}-problem`).textContent = why;
    for (const one of fields(form, item)) if (one.type !== "radio") why ? one.setAttribute("aria-invalid", "true") : one.removeAttribute("aria-invalid");
  }
  problem.textContent = wrong.length ? t("some_open", { n: wrong.length }) : "";
  if (wrong.length) fields(form, wrong[0][0])[0].focus();
  return !wrong.length;
}

function fault(item, given) {
  if (given === undefined || (given === "" && !item.optional && !item.may_skip)) return t("answer_needed");
  if (item.kind === "number" && given !== null && !(given >= item.low && given <= item.high)) return t("between", item);
  return item.kind === "text" && given.length > TEXT_CHARACTERS ? `${t("too_long")} (${given.length})` : "";
}

const fields = (form, item) => [...form.querySelectorAll(`[data-item="${item.id}"] input, [data-item="${item.id}"] textarea`)];

function question(item, before) {
  const described = `${item.id}-problem`;
  const problem = h("p", { class: "problem", id: described });
  const hint = item.kind === "number" ? t("between", item) : item.optional ? t("leave_open") : "";
  const told = hint && h("p", { class: "soft", id: `${item.id}-hint` }, hint);
  const about = { "aria-describedby": hint ? `${item.id}-hint ${described}` : described };
  if (["choice", "several", "scale"].includes(item.kind)) return h("fieldset", { "data-item": item.id, ...about }, h("legend", {}, item.text), told, choices(item, before), problem);
  const field = item.kind === "number" ? h("input", { type: "number", inputmode: "numeric", min: item.low, max: item.high, id: item.id, value: before ?? "", onbeforeinput: digits, ...about })
    : h("textarea", { id: item.id, rows: item.lines, dir: "auto", value: before ?? "", ...about });
  return h("div", { class: "field", "data-item": item.id }, h("label", { for: item.id }, item.text), told, field, problem);
}

function choices(item, before) {
  const chosen = (value) => (Array.isArray(before) ? before.includes(value) : before === value);
  const one = (value, label, type = "radio") => h("label", { class: "choice" }, h("input", { type, name: item.id, "data-value": JSON.stringify(value), checked: chosen(value) }), h("span", {}, label));
  const skip = item.may_skip && item.kind !== "several" && one(null, t("skip"));
  if (item.kind !== "scale") return [item.choices.map(([value, label]) => one(value, label, item.kind === "several" ? "checkbox" : "radio")), skip];
  const values = Array.from({ length: item.high - item.low + 1 }, (_, at) => item.low + at);
  const end = (value) => (value === item.low ? item.low_label : value === item.high ? item.high_label : "");
  return [
    h("div", { class: "ends", "aria-hidden": "true" }, h("span", {}, item.low_label), h("span", {}, item.high_label)),
    h("div", { class: "scale" }, values.map((value) => h("label", {}, h("input", { type: "radio", name: item.id, "data-value": value, checked: chosen(value), "aria-label": `${value} ${end(value)}`.trim() }), number(value)))), skip,
  ];
}

/** Browsers drop Persian and Arabic digits from a field for numbers; here they become 0 to 9. */
function digits(event) {
  if (![...(event.data ?? "")].some((one) => DIGITS.includes(one))) return;
  event.preventDefault();
  event.target.value += [...event.data].map((one) => (DIGITS.includes(one) ? DIGITS.indexOf(one) % 10 : one)).join("").replace(/\D/g, "");
  event.target.dispatchEvent(new Event("input", { bubbles: true }));
}

/** What was answered; undefined: nothing. */
function answered(form, item) {
  const inputs = fields(form, item);
  if (item.kind === "number") return inputs[0].value === "" ? (item.optional ? null : undefined) : Number(inputs[0].value);
  if (item.kind === "text") return inputs[0].value;
  const chosen = inputs.filter((one) => one.checked).map((one) => JSON.parse(one.dataset.value));
  if (item.kind === "several") return chosen;
  return chosen.length ? chosen[0] : item.optional ? null : undefined;
}
