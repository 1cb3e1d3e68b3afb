// What each color stands for: kinds of activity, and the sign of a feeling. The colors themselves are in `palette.css`, told apart by a test for every kind of color vision.

import { h } from "./dom.js";

export const KINDS = ["sleep", "sleepless", "rest", "care", "meal", "chore", "work", "errand", "leisure", "exercise", "social", "counseling", "worry"];
const SIGN = { joy: 1, trust: 1, anticipation: 1, fear: -1, sadness: -1, disgust: -1, anger: -1 };

/** The color of a kind of activity, and that of words on it. */
export const colorOf = (kind) => (KINDS.includes(kind) ? `var(--kind-${kind})` : "var(--kind-other)");
export const inkOn = (kind) => (KINDS.includes(kind) ? `var(--on-${kind})` : "var(--ink)");

/** A feeling as a number from -10 to 10: its intensity, with a minus where the emotion is an unpleasant one; 0 where it is neither (neutral, surprise). */
export const signed = (emotion, intensity) => (SIGN[emotion] || 0) * intensity;

/** Whether an emotion is neither pleasant nor unpleasant, however strong. */
export const unsigned = (emotion) => !SIGN[emotion];

/** What the colors of activities mean: those that are drawn. */
export function kindsLegend(kinds) {
  return h("ul", { class: "legend", "aria-label": "Kinds of activity" },
    KINDS.filter((kind) => kinds.has(kind)).map((kind) => h("li", {}, h("span", { class: `chip kind-${kind}` }), kind)),
    [...kinds].some((kind) => !KINDS.includes(kind)) ? h("li", {}, h("span", { class: "chip kind-other" }), "other") : null);
}
