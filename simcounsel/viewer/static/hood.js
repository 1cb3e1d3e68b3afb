// Under the hood: the exact prompts and replies, what they cost, and every fallback.

import { momentOf } from "./clock.js";
import { fill, h, said } from "./dom.js";
import { bundled, get } from "./source.js";
import { show, state } from "./state.js";

/** Build the panel into `section`. */
export function mountHood(section, run, overview) {
  let asked = 0;

  async function update(tick, who) {
    asked += 1;
    const mine = asked;
    const event = state().event;
    const [all, warnings, behind] = await Promise.all([get(run, `calls/${tick}`).catch((error) => (bundled ? [] : Promise.reject(error))), get(run, "warnings"), event ? get(run, `behind/${event}?tick=${tick}`).catch(() => null) : null]);
    if (mine !== asked) return;
    const chosen = behind ? behind.keys.map((key) => all.find((call) => call.key === key)).filter(Boolean) : all.filter((call) => call.who === who && call.verb !== "embed" && !call.spare);
    fill(section, h("h2", {}, "Under the hood"), behind ? about(behind.event, chosen) : h("p", { class: "soft" }, `All that was asked on behalf of ${who} at ${momentOf(overview, tick)}: ${chosen.length} requests. Recorded answers that were used again are not written twice.`),
      chosen.map((call, index) => request(call, Boolean(behind) && index === 0)), warned(warnings), bundled && !all.length ? h("p", { class: "soft" }, "Prompts and replies may have been left out of this file; the site (`simcounsel view`) has them.") : null);
  }

  function about(event, chosen) {
    return h("p", {}, "Behind ", event.text ? said(`“${event.text}”`) : event.kind, `: ${chosen.length ? `${chosen.length} ${chosen.length === 1 ? "request" : "requests"}` : "no request in this run's records (it was answered from a recording)"}. `,
      h("button", { type: "button", class: "plain", onclick: () => show({ event: null }) }, "all requests of this moment"));
  }

  function request(call, open) {
    const facts = [["model", call.model], ["answer", call.source], ["tokens", call.tokens_in || call.tokens_out ? `${call.tokens_in} in, ${call.tokens_out} out` : "not counted"],
      ["cost", call.cost_usd === null || call.cost_usd === undefined ? "price unknown" : `${call.cost_usd.toFixed(6)} USD`], ["latency", call.latency_s === undefined ? null : `${call.latency_s} s`], ["tries", call.tries], ["seed", call.seed],
      ["first complaint", call.complaint], ["problem", call.problem]];
    return h("details", { class: "card", open }, h("summary", {}, h("b", {}, call.purpose), h("span", { class: "soft" }, ` ${call.source}${call.tries > 1 ? `, ${call.tries} tries` : ""}: `, said(String(call.reply ?? call.problem ?? "").slice(0, 90)))),
      h("dl", {}, facts.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [h("dt", {}, name), h("dd", {}, said(value))])),
      block("system", call.system), block("prompt", call.prompt), block("reply", call.reply));
  }

  function block(name, text) {
    return text === null || text === undefined || text === "" ? null : [h("h4", {}, name), h("pre", { tabindex: "0", role: "region", "aria-label": name }, said(text))];
  }

  function warned(warnings) {
    if (!warnings.length) return h("p", { class: "soft" }, "No warnings in this run: every request got a usable answer.");
    return h("section", { class: "card" }, h("h3", {}, `${warnings.length} warnings: the declared fallback was taken`), h("table", {},
      h("thead", {}, h("tr", {}, ["When", "Who", "What for", "Cause"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, warnings.slice(0, 300).map((one) => h("tr", {}, h("td", {}, h("button", { type: "button", class: "plain", onclick: () => show({ tick: one.tick, who: one.who, event: null }) }, momentOf(overview, one.tick))),
        h("td", {}, said(one.who)), h("td", {}, one.purpose), h("td", {}, said(one.cause)))))), warnings.length > 300 ? h("p", { class: "soft" }, `and ${warnings.length - 300} more`) : null);
  }

  return { update };
}
