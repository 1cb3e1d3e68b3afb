// One person in two runs: a row for each day with what was done in A and in B, where that differs, and both feelings; and the hours of each kind of activity.

import { Plot, chart, svg } from "./chart.js";
import { minuteOf, timeOf } from "./clock.js";
import { dayRows } from "./dayrows.js";
import { visible } from "./dom.js";
import { lived, stepped } from "./lived.js";
import { colorOf, inkOn } from "./palette.js";
import { show } from "./state.js";
import { stateAt } from "./track.js";

const [NAME, FEEL, BAND, DIFFER, GAP] = [17, 44, 15, 7, 12]; // heights within a row, in px
const ROW = NAME + FEEL + 2 * BAND + DIFFER + GAP;
const SIDE = 24;
const MOST = 10; // of an intensity
const LETTER_PX = 6.4;
const A_TOP = NAME + FEEL + 1;
const BETWEEN = A_TOP + BAND;
const B_TOP = BETWEEN + DIFFER;
const [KIND_ROW, KIND_LEFT] = [20, 84];

/** The days of `who` in the runs `a` and `b`. all: the days that are drawn, of the longer run. `at(tick, who)` of what is given back moves the mark of the moment; `kinds`: of activity, that are drawn. */
export function apartDays(a, b, who, all, label) {
  const rows = all.map((day, index) => row(a, b, who, day, index * ROW));
  const done = rows.flatMap((one) => [...one.a.done, ...one.b.done]);

  function told(_, tick) {
    const words = (run) => {
      const now = stateAt(run, who, tick);
      return now.here && tick < run.ticks ? `${now.doing || "nothing yet"} (${now.kind || "?"}); ${now.emotion} ${now.intensity}` : "not there";
    };
    return `${timeOf(minuteOf(a, tick))} ${who}\nA: ${words(a)}\nB: ${words(b)}`;
  }

  const look = { row: ROW, span: [NAME, ROW - GAP + 2], side: SIDE, label, told, press: (_, tick) => show({ tick }), marks: (hour, [from, to]) => [...feelings(rows, from, to), ...bands(rows, done, hour, from)] };
  return { ...dayRows(a, rows, look), kinds: new Set(done.map(({ kind }) => kind)) };
}

/** The feeling in A and in B about the middle of each row. */
function feelings(rows, from, to) {
  const line = (side, stroke, more) => Plot.line(stepped(rows.flatMap((one) => one[side].felt)), { x: "x", y: "y", stroke, strokeWidth: 1.8, ...more });
  return [Plot.link(rows, { x1: from, x2: to, y1: "middle", y2: "middle", stroke: "var(--line)" }), line("a", "var(--arm-1)", {}), line("b", "var(--arm-2)", { strokeDasharray: "5 3" })];
}

/** What is done in A and in B, and between them where it differs. */
function bands(rows, done, hour, from) {
  const letters = rows.flatMap(({ y }) => [{ y: y + A_TOP + BAND / 2, text: "A" }, { y: y + B_TOP + BAND / 2, text: "B" }]);
  const thin = (one) => (one.kind ? 1 : 2.5);
  return [
    Plot.rect(done, { x1: "x1", x2: "x2", y1: "y", y2: (one) => one.y + BAND, fill: (one) => colorOf(one.kind), stroke: "var(--sheet)", strokeWidth: 0.7 }),
    Plot.text(done.filter((one) => (one.x2 - one.x1) * hour > one.kind.length * LETTER_PX), { x: (one) => (one.x1 + one.x2) / 2, y: (one) => one.y + BAND / 2 + 0.5, text: "kind", fill: (one) => inkOn(one.kind), fontSize: 10 }),
    Plot.rect(rows.flatMap((one) => one.differ), { x1: "x1", x2: "x2", y1: (one) => one.y + thin(one), y2: (one) => one.y + DIFFER - thin(one), fill: (one) => (one.kind ? "var(--ink)" : "var(--soft)"), className: "differs" }),
    Plot.text(letters, { x: from, y: "y", dx: -10, text: "text", fontWeight: 600, fill: "var(--ink)" }),
  ];
}

/** One day in both runs, from the height `y`. */
function row(a, b, who, day, y) {
  const middle = y + NAME + FEEL / 2;
  const side = (run, top) => {
    const upto = { ...day, to: Math.min(day.to, run.ticks) };
    const { done, felt } = upto.to > upto.from ? lived(run, who, upto) : { done: [], felt: [] };
    return { done: done.map((one) => ({ ...one, y: y + top })), felt: felt.map((one) => ({ ...one, middle, y: middle - (one.value * FEEL) / (2 * MOST) })) };
  };
  const [one, two] = [side(a, A_TOP), side(b, B_TOP)];
  return { name: day.name, who, day, y, middle, a: one, b: two, differ: differing(one.done, two.done).map((gap) => ({ ...gap, y: y + BETWEEN })) };
}

/** Where two days of stretches differ, while both are there: {x1, x2, kind}, kind: whether the kind of activity differs or its words alone. */
function differing(one, two) {
  const found = [];
  for (const mine of one) {
    for (const theirs of two) {
      const [x1, x2] = [Math.max(mine.x1, theirs.x1), Math.min(mine.x2, theirs.x2)];
      if (x1 < x2 && mine.text !== theirs.text) found.push({ x1, x2, kind: mine.kind !== theirs.kind });
    }
  }
  return found;
}

/** Hours of each kind of activity in A and B. hours: {kind: [in A, in B]}. */
export function hoursChart(who, hours) {
  const kinds = Object.entries(hours).map(([kind, [a, b]]) => ({ kind, a, b })).sort((one, two) => Math.abs(two.a - two.b) - Math.abs(one.a - one.b));
  return chart((width) => svg({
    width, height: kinds.length * KIND_ROW + 40, marginLeft: KIND_LEFT, marginRight: 20, marginTop: 4, marginBottom: 34,
    ariaLabel: visible(`${who}, hours: ${kinds.map(({ kind, a, b }) => `${kind} ${a} in A, ${b} in B`).join("; ")}`),
    x: { label: "hours", labelAnchor: "center", labelArrow: "none", grid: true, nice: true }, y: { domain: kinds.map(({ kind }) => kind), label: null, tickSize: 0 },
    marks: [
      Plot.ruleX([0], { stroke: "var(--line)" }),
      Plot.link(kinds, { x1: "a", x2: "b", y1: "kind", y2: "kind", stroke: "var(--soft)" }),
      Plot.dot(kinds, { x: "a", y: "kind", r: 5, fill: "var(--arm-1)" }),
      Plot.dot(kinds, { x: "b", y: "kind", r: 4.5, stroke: "var(--arm-2)", strokeWidth: 2.5 }),
    ],
  }));
}
