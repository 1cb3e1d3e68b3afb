// Emotions: a color, a glyph and a word each, never the color alone.

import { h } from "./dom.js";

export const EMOTIONS = ["joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation", "neutral"];
const GLYPH = {
  joy: "☺", trust: "♥", fear: "!", surprise: "○", sadness: "▽", disgust: "✕", anger: "▲", anticipation: "➜", neutral: "·",
};

/** The glyph of an emotion; a question mark for one that is not known. */
export const glyph = (emotion) => GLYPH[emotion] || "?";

/** A badge: glyph on the emotion's color, with its name for screen readers and, if wanted, in words. */
export function badge(emotion, intensity, words = false) {
  const name = emotion in GLYPH ? emotion : "neutral";
  const label = intensity ? `${emotion} ${intensity} of 10` : emotion;
  return h("span", { class: "feel" },
    h("span", { class: `badge feel-${name}`, "aria-hidden": "true" }, glyph(emotion)),
    h("span", { class: words ? "feel-words" : "hidden" }, label));
}

/** What the glyphs mean. */
export function legend() {
  return h("ul", { class: "legend", "aria-label": "Emotions" }, EMOTIONS.map((emotion) => h("li", {}, badge(emotion, null, true))));
}
