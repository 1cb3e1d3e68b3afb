// The tree of places as nested rooms, and who is where, doing what, feeling what, saying what; the same in words beneath. On a narrow page it is folded.

import { fill, h, said } from "./dom.js";
import { badge } from "./feel.js";
import { show } from "./state.js";
import { stateAt } from "./track.js";

const MOVE_MS = 600;
const WIDE = "(min-width: 861px)"; // as in run.css

/** Build the map into `section`. */
export function mountMap(section, overview) {
  const rooms = new Map();
  const figures = new Map();
  let shownTick = -9;
  const wide = matchMedia(WIDE);
  const words = h("ul", { class: "plainlist small" });
  const inWords = h("details", { class: "where-words", ontoggle: () => tell() }, h("summary", { class: "small" }, "Who is where, in words"), words);
  const fold = h("details", { class: "map-fold", open: wide.matches }, h("summary", {}, "Map: who is where"),
    h("div", { class: "map" }, overview.places.map((place) => room(place, 1))), inWords);
  wide.addEventListener("change", () => { fold.open = wide.matches; });
  fill(section, h("h2", { class: "hidden" }, "Map"), fold);

  function room(place, depth) {
    const inner = place.places || [];
    const people = h("ul", { class: "people", "aria-label": `People in ${place.name}` });
    rooms.set(place.name, people);
    return h("section", { class: `room depth-${Math.min(depth, 3)}${inner.length ? " outer" : ""}`, "aria-label": place.name },
      h("h3", {}, said(place.name)), people, inner.length ? h("div", { class: "inner" }, inner.map((one) => room(one, depth + 1))) : null);
  }

  function figure(name) {
    if (!figures.has(name)) {
      const parts = { feel: h("span", {}), doing: h("span", { class: "doing" }), speech: h("span", { class: "speech", tabindex: "0", role: "group", "aria-label": `${name} says`, hidden: true }) };
      const person = overview.people.find((one) => one.name === name);
      const button = h("button", { type: "button", class: "figure", onclick: () => show({ who: name, panel: "person" }) },
        parts.feel, h("span", { class: "figure-name" }, said(name), h("span", { class: "soft small" }, ` ${person ? person.role : ""}`)), parts.doing);
      figures.set(name, { item: h("li", {}, button, parts.speech), button, ...parts, shown: "" });
    }
    return figures.get(name);
  }

  /** Show a moment. */
  function update(tick, who) {
    const near = Math.abs(tick - shownTick) === 1 && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    shownTick = tick;
    const before = new Map(near ? [...figures].filter(([, f]) => f.item.isConnected).map(([name, f]) => [name, f.item.getBoundingClientRect()]) : []);
    for (const { name } of overview.people) {
      const now = stateAt(overview, name, tick);
      const mine = figure(name);
      const place = now.here && rooms.get(now.place);
      if (!place) mine.item.remove();
      else if (mine.item.parentNode !== place) place.append(mine.item);
      const shown = `${now.emotion}${now.intensity}${now.doing}`;
      if (shown !== mine.shown) {
        mine.shown = shown;
        fill(mine.feel, badge(now.emotion, now.intensity));
        fill(mine.doing, said(now.doing || ""));
      }
      mine.button.setAttribute("aria-pressed", String(name === who));
    }
    glide(before);
    tell();
  }

  /** The moment in words: one line a person. */
  function tell() {
    if (!inWords.open || !fold.open) return;
    fill(words, overview.people.map(({ name, role }) => {
      const now = stateAt(overview, name, shownTick);
      return h("li", {}, h("b", {}, said(name)), `, ${role}: `, now.here ? [said(now.place || "somewhere"), ". ", said(now.doing || "nothing yet"), `. Feels ${now.emotion}, ${now.intensity} of 10.`] : "not here now.");
    }));
  }

  /** Who says what now: {name: line}. */
  function speak(speaking) {
    for (const [name, { speech }] of figures) {
      const line = speaking[name];
      if (!line && speech.hidden) continue;
      speech.hidden = !line;
      fill(speech, line ? said(line) : "");
    }
  }

  function glide(before) {
    for (const [name, from] of before) {
      const { item } = figures.get(name);
      if (!item.isConnected) continue;
      const to = item.getBoundingClientRect();
      const [dx, dy] = [from.left - to.left, from.top - to.top];
      if (Math.abs(dx) + Math.abs(dy) > 8) item.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }], { duration: MOVE_MS, easing: "ease-out" });
    }
  }

  return { update, speak };
}
