// One request to a model: what was asked in which words, what came back, what it cost.

import { h, said } from "./dom.js";

/** Shown as a details element. `about` tells it from others beside it, for screen readers. */
export function request(call, open, about = "") {
  const facts = [["model", call.model], ["answer", call.source], ["tokens", call.tokens_in || call.tokens_out ? `${call.tokens_in} in, ${call.tokens_out} out` : "not counted"],
    ["cost", call.cost_usd === null || call.cost_usd === undefined ? "price unknown" : `${call.cost_usd.toFixed(6)} USD`], ["latency", call.latency_s === undefined ? null : `${call.latency_s} s`], ["tries", call.tries], ["seed", call.seed],
    ["first complaint", call.complaint], ["problem", call.problem]];
  return h("details", { class: "card", open }, h("summary", {}, h("b", {}, call.purpose), h("span", { class: "soft" }, ` ${call.source}${call.tries > 1 ? `, ${call.tries} tries` : ""}: `, said(String(call.reply ?? call.problem ?? "").slice(0, 90)))),
    h("dl", {}, facts.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [h("dt", {}, name), h("dd", {}, said(value))])),
    ["system", "prompt", "reply"].map((name) => block(name, call[name], about)));
}

function block(name, text, about) {
  return text === null || text === undefined || text === "" ? null : [h("h4", {}, name), h("pre", { tabindex: "0", role: "region", "aria-label": `${about} ${name}`.trim() }, said(text))];
}
