// The feelings of a person in their order: a bar for each, up where it is pleasant and down where not, as high as it is strong.

import { Plot, chart, pressable, svg } from "./chart.js";
import { momentOf } from "./clock.js";
import { visible } from "./dom.js";
import { glyph } from "./feel.js";
import { signed } from "./palette.js";
import { show } from "./state.js";

const HEIGHT = 150;
const ROOM = 12; // fewer bars than that leave room beside them
const SLIT = 0.12; // between bars, of a bar

/** feelings: as the person's history gives them, the newest last. */
export function feelingsChart(overview, feelings) {
  const bars = feelings.map((one, index) => ({ ...one, index, value: signed(one.emotion, one.intensity) }));
  const said = (one) => `${momentOf(overview, one.tick)}: ${one.emotion} ${one.intensity} of 10. ${one.about || ""}`;
  const [first, last] = [bars[0], bars[bars.length - 1]].map((one) => momentOf(overview, one.tick));
  return chart((width) => {
    const marked = (width - 50) / Math.max(ROOM, bars.length) > 9;
    const drawn = svg({
      width, height: HEIGHT, marginLeft: 34, marginRight: 8, marginTop: 8, marginBottom: 22,
      ariaLabel: visible(`The last ${bars.length} feelings, from ${first} to ${last}: ${bars.slice(-8).map((one) => `${one.emotion} ${one.intensity}`).join(", ")}`),
      x: { domain: [0, Math.max(ROOM, bars.length)], axis: null }, y: { domain: [-10, 10], ticks: [-10, -5, 0, 5, 10], tickFormat: (value) => String(Math.abs(value)), label: null, grid: true, tickSize: 0 },
      marks: [
        Plot.rect(bars, { x1: (one) => one.index + SLIT, x2: (one) => one.index + 1, y1: 0, y2: (one) => one.value || 0.3, fill: (one) => (one.value ? (one.value > 0 ? "var(--feel-up)" : "var(--feel-down)") : "var(--soft)"), className: "bar" }),
        ...(marked ? [signs(bars.filter((one) => one.value >= 0), -7), signs(bars.filter((one) => one.value < 0), 8)] : []),
        Plot.ruleY([0], { stroke: "var(--soft)" }),
        Plot.text([first], { frameAnchor: "bottom-left", dy: 18, text: (text) => text, fill: "var(--soft)" }), Plot.text(first === last ? [] : [last], { frameAnchor: "bottom-right", dy: 18, text: (text) => text, fill: "var(--soft)" }),
      ],
    });
    return pressable(drawn, ".bar > *", (index) => said(bars[index]), (index) => show({ tick: bars[index].tick }));
  });
}

const signs = (bars, dy) => Plot.text(bars, { x: (one) => one.index + 0.5 + SLIT / 2, y: "value", dy, text: (one) => glyph(one.emotion), fill: "var(--ink)" });
