// What comes first on a run's page: the conversations that ended on open danger, each a way to it.

import { momentOf } from "./clock.js";
import { h, said } from "./dom.js";
import { show } from "./state.js";

/** The banner of an overview; null where no conversation ended so. */
export function openDanger(overview) {
  const ends = overview.open_ends || [];
  if (!ends.length) return null;
  return h("div", { class: "warn open-danger", role: "note", "aria-label": "Open danger" },
    h("b", {}, `${ends.length} ${ends.length === 1 ? "conversation" : "conversations"} ended on open danger`),
    h("ul", {}, ends.map((one) => h("li", {},
      h("button", { type: "button", class: "plain", onclick: () => show({ panel: "talks", chat: one.chat, tick: one.tick, who: one.who[0] }) },
        said(one.who.join(" and ")), `, ${momentOf(overview, one.tick)}`), `: ${one.danger}; ${one.since}`))));
}
