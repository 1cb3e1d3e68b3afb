// What comes first on a run's page: where danger was left open, each a way to it.

import { momentOf } from "./clock.js";
import { h, said } from "./dom.js";
import { show } from "./state.js";

/** The banner of an overview; null where no conversation ended so. */
export function openDanger(overview) {
  const ends = overview.open_ends || [];
  if (!ends.length) return null;
  return h("div", { class: "warn open-danger", role: "note", "aria-label": "Open danger" },
    h("b", {}, `Danger was left open ${ends.length === 1 ? "once" : `${ends.length} times`}`),
    h("ul", {}, ends.map((one) => h("li", {},
      h("button", { type: "button", class: "plain", onclick: () => show({ panel: one.chat ? "talks" : "person", chat: one.chat, tick: one.tick, who: one.who[0] }) },
        said(one.who.join(" and ")), `, ${momentOf(overview, one.tick)}`), `: ${one.danger}; ${one.since}`))));
}
