// Under the hood: the exact prompts and replies, what they cost, and every fallback.

import { purposeOf, request } from "./call.js";
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
    fill(section, h("h2", {}, "Under the hood"), behind ? about(behind, chosen) : h("p", { class: "soft" }, `What the model was asked for ${who}, ${momentOf(overview, tick)}: ${chosen.length} ${chosen.length === 1 ? "request" : "requests"}.`),
      chosen.map((call, index) => request(call, Boolean(behind) && index === 0, "", Math.max(...chosen.map((one) => (one.tokens_in || 0) + (one.tokens_out || 0))))), warned(warnings), bundled && !all.length ? h("p", { class: "soft" }, "Prompts and replies may have been left out of this file; the site (`simcounsel view`) has them.") : null);
  }

  function about(behind, chosen) {
    const { event } = behind;
    return h("p", {}, "Behind ", event.text ? said(`“${event.text}”`) : event.kind, `: ${counted(behind, chosen)}. `,
      h("button", { type: "button", class: "plain", onclick: () => show({ event: null }) }, "all requests of this moment"));
  }

  function counted(behind, chosen) {
    if (chosen.length) return `${chosen.length} ${chosen.length === 1 ? "request" : "requests"}`;
    return behind.keys.length ? "its requests are not in this run's records" : "no request: no model was asked for it";
  }

  function warned(warnings) {
    if (!warnings.length) return h("p", { class: "soft" }, "No warnings in this run: every request got a usable answer.");
    return h("section", { class: "card" }, h("h3", {}, `${warnings.length} warnings: the declared fallback was taken`), h("table", {},
      h("thead", {}, h("tr", {}, ["When", "Who", "What for", "Cause"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, warnings.slice(0, 300).map((one) => h("tr", {}, h("td", {}, h("button", { type: "button", class: "plain", onclick: () => show({ tick: one.tick, who: one.who, event: null }) }, momentOf(overview, one.tick))),
        h("td", {}, said(one.who)), h("td", {}, purposeOf(one)), h("td", {}, said(one.cause)))))), warnings.length > 300 ? h("p", { class: "soft" }, `and ${warnings.length - 300} more`) : null);
  }

  return { update };
}
