// A tour of four steps through the gallery: a talk, why that line, what changed, and the same days without the counselor.

import { h } from "./dom.js";
import { show, state } from "./state.js";

const RUN = "gallery:first-days";
const ALONE = "gallery:first-days-alone";
const STEPS = [
  ["A talk", "Ines sleeps badly. Here she meets a counselor for the first time. Read as far as you like; each line says where it came from.", { panel: "talks", tick: 12, who: "Ines", line: null, point: null }],
  ["Why that line", "Under each line, “why” shows what came to mind, which move was chosen, and the prompt behind it. Here it is open for one of Ines's lines.", { panel: "talks", tick: 12, who: "Ines", line: 4, point: null }],
  ["What changed", "Scores over time. Below the first point are the answers it rests on, item by item. Press the second point to see what came between.", { panel: "outcomes", tick: 143, who: "Ines", line: null, point: null }],
  ["Without the counselor", "The same two days, forked before the first session: B has no counselor. The sentence on top says what that changed. Two runs are an example, not evidence.", null],
];

/** The card of the step that the address names; null where it names none. */
export function tour() {
  const at = Number(state().tour);
  if (!STEPS[at - 1]) return null;
  const [name, words] = STEPS[at - 1];
  return h("aside", { class: "tour", "aria-label": "Tour" }, h("b", {}, `${at} of ${STEPS.length}: ${name}`), h("p", {}, words),
    at === STEPS.length ? h("p", {}, "Now start a run of your own: ", h("code", {}, "simcounsel run insomnia --ticks 24")) : null,
    h("div", { class: "row" }, at > 1 ? h("button", { type: "button", onclick: () => go(at - 1) }, "Back") : null, at < STEPS.length ? h("button", { type: "button", class: "main", onclick: () => go(at + 1) }, "Next") : null, h("button", { type: "button", onclick: () => show({ tour: null }) }, "End the tour")));
}

/** Where the page has to be for the step of the address. */
export function placeOfTour() {
  return STEPS[Number(state().tour) - 1]?.[2] || null;
}

function go(to) {
  const place = STEPS[to - 1][2];
  if (!place) location.href = `/compare?a=${encodeURIComponent(RUN)}&b=${encodeURIComponent(ALONE)}#tour=${to}`;
  else if (location.pathname.startsWith("/run/")) show({ tour: to, ...place });
  else location.href = `/run/${encodeURIComponent(RUN)}#${new URLSearchParams({ tour: to })}`;
}
