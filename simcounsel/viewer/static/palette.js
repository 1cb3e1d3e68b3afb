// What each color stands for: kinds of activity, and the sign of a feeling. The colors themselves are in `palette.css`, told apart by a test for every kind of color vision.

import { h } from "./dom.js";

/** Kinds of activity by their color: few enough to be told apart at a glance. */
export const GROUPS = { sleep: ["sleep", ["sleep"]], awake: ["awake at night, or worry", ["sleepless", "worry"]], care: ["meals and care", ["meal", "care"]], work: ["work and chores", ["work", "chore", "errand"]], free: ["rest and leisure", ["rest", "leisure", "exercise"]], company: ["with others", ["social"]], counseling: ["counseling", ["counseling"]] };
const SIGN = { joy: 1, trust: 1, anticipation: 1, fear: -1, sadness: -1, disgust: -1, anger: -1 };

const groupOf = (kind) => Object.keys(GROUPS).find((group) => GROUPS[group][1].includes(kind));

/** The color of a kind of activity, and that of words on it. */
export const colorOf = (kind) => `var(--kind-${groupOf(kind) || "other"})`;
export const inkOn = (kind) => (groupOf(kind) ? `var(--on-${groupOf(kind)})` : "var(--ink)");

/** A feeling as a number from -10 to 10: its intensity, with a minus where the emotion is an unpleasant one; 0 where it is neither (neutral, surprise). */
export const signed = (emotion, intensity) => (SIGN[emotion] || 0) * intensity;

/** Whether an emotion is neither pleasant nor unpleasant, however strong. */
export const unsigned = (emotion) => !SIGN[emotion];

/** What the colors of activities mean: those that are drawn. */
export function kindsLegend(kinds) {
  const groups = new Set([...kinds].map((kind) => groupOf(kind) || "other"));
  return h("ul", { class: "legend", "aria-label": "Kinds of activity" },
    [...Object.keys(GROUPS), "other"].filter((group) => groups.has(group)).map((group) => h("li", {}, h("span", { class: `chip kind-${group}` }), GROUPS[group]?.[0] || "other")));
}
