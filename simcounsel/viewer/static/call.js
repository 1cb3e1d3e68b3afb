// One request to a model: what was asked in which words, what came back, what it cost.

import { h, said } from "./dom.js";

/** Shown as a details element. `about` tells it from others beside it, for screen readers. */
export function request(call, open, about = "") {
  const facts = [["model", call.model], ["answer", call.source], ["tokens", call.tokens_in || call.tokens_out ? `${call.tokens_in} in, ${call.tokens_out} out` : "not counted"],
    ["cost", String(call.model).startsWith("byhand:") ? "no price: answered by hand" : call.cost_usd === null || call.cost_usd === undefined ? "price unknown" : `${call.cost_usd.toFixed(6)} USD`], ["latency", call.latency_s === undefined ? null : `${call.latency_s} s`], ["tries", call.tries], ["tier", call.tier],
    ...Object.entries(call.parameters || {}).map(([name, value]) => [name.replaceAll("_", " "), typeof value === "object" ? JSON.stringify(value) : value]),
    ["not taken by the server", (call.left_out || []).join(", ")],
    ["first complaint", call.complaint], ["problem", call.problem]];
  return h("details", { class: "card", open }, h("summary", {}, h("b", {}, call.purpose), h("span", { class: "soft" }, ` ${call.source}${call.tries > 1 ? `, ${call.tries} tries` : ""}: `, said(String(call.reply ?? call.problem ?? "").slice(0, 90)))),
    h("dl", {}, facts.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [h("dt", {}, name), h("dd", {}, said(value))])),
    (call.messages || []).map((one) => block(one.role, one.content, about)), block("reply", call.reply, about));
}

function block(name, text, about) {
  return text === null || text === undefined || text === "" ? null : [h("h4", {}, name), h("pre", { tabindex: "0", role: "region", "aria-label": `${about} ${name}`.trim() }, said(text))];
}
