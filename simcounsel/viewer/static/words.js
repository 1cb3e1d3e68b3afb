// Differences between two texts, word by word, marked for eyes and for screen readers.

import { h, said } from "./dom.js";

const LONGEST = 400;

/** Tokens of a text: words, with the space behind them. */
const tokens = (text) => String(text ?? "").match(/\S+\s*/g) || [];

/** [{kind: "same" | "gone" | "new", text}], by a longest common subsequence of words. */
export function difference(before, after) {
  const [a, b] = [tokens(before), tokens(after)];
  if (a.length > LONGEST || b.length > LONGEST) return before === after ? [{ kind: "same", text: after }] : [{ kind: "gone", text: before }, { kind: "new", text: after }];
  const best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      best[i][j] = a[i].trim() === b[j].trim() ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  const parts = [];
  const push = (kind, text) => {
    if (parts.length && parts[parts.length - 1].kind === kind) parts[parts.length - 1].text += text;
    else parts.push({ kind, text });
  };
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i].trim() === b[j].trim()) {
      push("same", b[j]);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && best[i + 1][j] >= best[i][j + 1])) push("gone", a[i++]);
    else push("new", b[j++]);
  }
  return parts;
}

/** A text with its differences from another marked. */
export function marked(before, after) {
  if (before === null || before === undefined) return said(after);
  return h("span", { class: "said", dir: "auto" }, difference(before, after).map(({ kind, text }) =>
    kind === "same" ? said(text)
      : h(kind === "gone" ? "del" : "ins", {}, h("span", { class: "hidden" }, kind === "gone" ? "removed: " : "new: "), said(text))));
}

/** Two versions of a text beside each other: [the first with what goes, the second with what is new]. */
export function sides(before, after) {
  const parts = difference(before, after);
  const side = (kind, tag, hint) => {
    const mine = parts.filter((one) => one.kind === "same" || one.kind === kind);
    const spaced = (text, index) => (index < mine.length - 1 && !/\s$/.test(text) ? `${text} ` : text); // the other text may have ended there
    return h("span", { class: "said", dir: "auto" }, mine.map((one, index) =>
      (one.kind === "same" ? said(spaced(one.text, index)) : h(tag, {}, h("span", { class: "hidden" }, hint), said(spaced(one.text, index))))));
  };
  return [side("gone", "del", "removed: "), side("new", "ins", "new: ")];
}
