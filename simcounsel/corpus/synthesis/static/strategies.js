// What the counselor learned from session to session.

import { fill, h, said } from "./dom.js";

/** Build the list; `update` adds what is new and leaves the rest, with what is open in it, as it stands. */
export function mountStrategies() {
  const list = h("ol", { class: "learned" });
  const none = h("p", {});
  const rows = new Map();
  const element = h("div", {}, h("h2", {}, "What the counselor has learned"),
    h("p", { class: "soft" }, "After each session the manager makes strategies of what the evaluator asked for; the counselor carries them from the next wave on. Waves count from 0, as in ", h("code", {}, "simcounsel show RUN --strategies --tick WAVE"), "."),
    list, none);
  return { element, update, point };

  function update(found) {
    fill(none, found.strategies.length ? null : found.without.length ? "None: a role that makes them does not take part." : "None yet.");
    for (const one of found.strategies) {
      const [now, known] = [JSON.stringify(one), rows.get(one.id)];
      if (known?.now === now) continue;
      const row = h("li", { id: `strategy-${one.id}` }, inside(one));
      if (known) known.row.replaceWith(row);
      else list.append(row);
      rows.set(one.id, { now, row });
    }
  }

  function point(id) {
    for (const { row } of rows.values()) row.classList.toggle("now", row.id === `strategy-${id}`);
    rows.get(id)?.row.scrollIntoView({ block: "center" });
  }
}

const jump = (name) => h("a", { href: `#${name}` }, said(name));

function inside(one) {
  return [
    h("div", {}, h("span", { class: "tag" }, one.id), " ", said(one.text), one.dropped === null ? null : [" ", h("span", { class: "tag made" }, `dropped before wave ${one.dropped}`)]),
    h("div", { class: "soft small" }, one.session ? [`wave ${one.wave}, from `, jump(one.session)] : "given from the beginning",
      one.found.length ? ["; found again in ", one.found.map((again, index) => [index ? ", " : "", jump(again.session), ` (likeness ${again.cosine.toFixed(2)})`])] : null),
    one.advice.length ? h("details", { class: "small" }, h("summary", { class: "soft" }, "the suggestions it comes from"), h("ul", {}, one.advice.map((text) => h("li", {}, said(text))))) : null,
  ];
}
