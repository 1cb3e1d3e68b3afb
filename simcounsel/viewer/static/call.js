// One request to a model: what was asked in which words, what came back, and what it cost.

import { h, said } from "./dom.js";

const FOR = {
  speak: "looked for a line", line_client: "said a line", line_counselor: "said a line", line_layperson: "said a line", risk: "judged whether a line means danger", plan_slots: "planned the next hours", plan_day: "planned the day",
  skipped_days: "passed over days", summarize: "summed up the talk", questions: "asked what there is to reflect on", insights: "drew conclusions", reflect: "reflected", persona: "rewrote the portrait", appraise: "felt about what happened", move: "chose the next move", note: "took a note",
  intent: "chose an intent", exercise: "led an exercise", sufficient: "judged whether a stage is done", valence: "judged how it was taken", course_objective: "planned the session", course_after: "looked back on the session", self_report: "answered a questionnaire", safety_answer: "read the answer about danger", interview: "answered the interviewer", remember: "kept a memory",
}; // by purpose; another purpose is shown as it is
const SOURCES = { generated: null, random: "at random", chosen: "chosen from lines", fallback: "no usable answer: the fallback was taken", recorded: "recorded" };

/** What a request was for, in words. */
export const purposeOf = (call) => FOR[call.purpose] || String(call.purpose).replaceAll("_", " ");

/** Shown as a details element: the messages first, the settings folded. `about` tells it from others beside it, for screen readers; `most`: the most tokens of a request beside it. */
export function request(call, open, about = "", most = 0) {
  const words = gist(call.reply ?? call.problem);
  const settings = [["model", call.model], ["answer", call.source], ["cost", costOf(call)], ["tries", call.tries], ["tier", call.tier],
    ...Object.entries(call.parameters || {}).map(([name, value]) => [name.replaceAll("_", " "), typeof value === "object" ? JSON.stringify(value, null, 1) : value]),
    ["not taken by the server", (call.left_out || []).join(", ")],
    ["first complaint", call.complaint], ["problem", call.problem]];
  return h("details", { class: "card", open }, h("summary", {}, h("b", {}, purposeOf(call)), h("span", { class: "soft" }, [SOURCES[call.source], call.tries > 1 ? `${call.tries} tries` : null].filter(Boolean).map((one) => `; ${one}`).join("")), words ? h("span", { class: "soft" }, ": ", said(words.slice(0, 90))) : null),
    spent(call, most), (call.messages || []).map((one) => block(one.role, one.content, about)), block("reply", call.reply, about),
    h("details", { class: "small" }, h("summary", {}, "Settings, cost, form of the answer"), h("dl", {}, settings.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [h("dt", {}, name), h("dd", {}, said(value))]))));
}

/** What a reply begins with: of an answer in a form, its first text of some length. */
function gist(reply) {
  try {
    const texts = [];
    JSON.parse(reply, (_, value) => { if (typeof value === "string" && value.length > 20) texts.push(value); });
    return texts[0] || "";
  } catch {
    return String(reply ?? "").trim();
  }
}

/** Tokens and time as a bar, as long as they are many beside the others. */
function spent(call, most) {
  const [asked, given] = [call.tokens_in || 0, call.tokens_out || 0];
  const seconds = call.latency_s === undefined ? "" : `, ${call.latency_s < 1 ? call.latency_s.toFixed(2) : call.latency_s.toFixed(1)} s`;
  if (!asked && !given) return h("p", { class: "soft small" }, `Tokens were not counted${seconds}.`);
  const piece = (kind, count) => {
    const made = h("span", { class: kind });
    made.style.width = `${((100 * count) / Math.max(most, asked + given)).toFixed(2)}%`;
    return made;
  };
  return h("div", { class: "spent small soft" }, h("span", { class: "spent-bar", "aria-hidden": "true" }, piece("asked", asked), piece("given", given)), `${asked} tokens in, ${given} out${seconds}`);
}

function costOf(call) {
  if (String(call.model).startsWith("byhand:")) return "no price: answered by hand";
  return call.cost_usd === null || call.cost_usd === undefined ? "price unknown" : `${call.cost_usd.toFixed(6)} USD`;
}

function block(name, text, about) {
  return text === null || text === undefined || text === "" ? null : [h("h4", {}, name), h("pre", { tabindex: "0", role: "region", "aria-label": `${about} ${name}`.trim() }, said(text))];
}
