// Several runs together: each score over time, a thin line for each run, the mean of each arm with its interval.

import { Plot, chart, pressable, svg } from "./chart.js";
import { fill, h, said, visible } from "./dom.js";
import { keyOf, number, scoreName, RESPONDENTS } from "./scores.js";
import { get } from "./source.js";
import { timeAxis } from "./timeaxis.js";

const ARMS = 6; // colors; with more, arms are told apart by their signs
const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross"];
const SIGNS = ["●", "■", "▲", "◆", "★", "✚"];
const DASHES = ["", "6 3", "2 3", "8 3 2 3", "1 2", "10 4"];
const [HEIGHT, LEFT, RIGHT] = [220, 40, 30];
const LINE_PX = 3; // from one arm's line to the next
const BESIDE = 0.03; // how far two arms are apart, of the whole time

const main = document.getElementById("main");
const names = new URLSearchParams(location.search).getAll("run");

if (names.length < 2) fill(main, h("h1", {}, "Several runs"), h("p", {}, "Name two runs or more: /several?run=A&run=B, or choose them in ", h("a", { href: "/" }, "the list of runs"), "."));
else get(null, `several?${names.map((name) => `run=${encodeURIComponent(name)}`).join("&")}`).then(draw, (error) => fill(main, h("h1", {}, "Several runs"), h("p", { class: "warn", role: "alert" }, error.message)));

function draw(found) {
  const arms = [...new Set(found.runs.map((run) => run.arm))].sort();
  const trial = found.series.some((one) => one.points.some((point) => point.trial));
  fill(main, h("p", { class: "row" }, h("a", { href: "/" }, "runs")), h("h1", {}, `${found.runs.length} runs in ${arms.length} ${arms.length === 1 ? "arm" : "arms"}`),
    trial ? h("p", { class: "warn small" }, "Some of these answers come from a model that is there for trying the software only; they are no measurement.") : null,
    h("ul", { class: "legend", "aria-label": "Arms" }, arms.map((arm, index) => h("li", {}, h("span", { class: `arm-sign arm-${(index % ARMS) + 1}` }, SIGNS[index % ARMS]), " ", said(arm), ` (${count(found.runs.filter((run) => run.arm === arm).length)})`))),
    h("p", { class: "soft small" }, "A faint line is a run; a strong one the mean of an arm, a run counting once. Bars: 95 % interval of that mean over runs (Student's t), from three runs on. Retests are left out. Press a point to open its run there."),
    found.series.length ? h("div", { class: "multiples" }, found.series.map((one) => multiple(found, one, arms, span(found)))) : h("p", {}, "No score was measured in these runs; ", h("code", {}, "simcounsel rate RUN RUN --instrument session_alliance_observed"), " measures them."),
    found.series.length ? numbers(found) : null);
}

const count = (runs) => `${runs} ${runs === 1 ? "run" : "runs"}`;

/** From the first to the last measurement of all: one axis for all pictures. */
function span(found) {
  const minutes = found.series.flatMap((one) => one.points.map((point) => point.minute));
  return [Math.min(...minutes), Math.max(...minutes)];
}

function multiple(found, series, arms, times) {
  const scale = found.scales[series.instrument];
  const about = scale.scores?.[series.score] || {};
  const title = `${scale.name}${series.score === "total" ? "" : `, ${scoreName(scale, series.score)}`}`;
  const direction = { lower_is_better: "lower is better", higher_is_better: "higher is better" }[about.direction];
  return h("figure", { class: "card" }, h("figcaption", {}, h("b", {}, said(title)), h("div", { class: "soft small" }, [RESPONDENTS[series.respondent], direction].filter(Boolean).join("; "))), chart((width) => picture(found, series, arms, about, title, times, width)));
}

function picture(found, series, arms, about, title, [from, to], width) {
  const color = (arm) => `var(--arm-${(arms.indexOf(arm) % ARMS) + 1})`;
  const { points, means } = series;
  const values = points.map((one) => one.value);
  const domain = about.bounds || [Math.min(0, ...values), Math.max(...values, Math.min(0, ...values) + 1)];
  const x = (one) => one.minute + (arms.indexOf(one.arm) - (arms.length - 1) / 2) * BESIDE * Math.max(60, to - from); // arms lie beside each other
  const aside = (index) => (index - (arms.length - 1) / 2) * LINE_PX; // nor does a line hide another of the same height
  const words = (one) => `${one.run}, ${one.who}, ${one.point}: ${number(one.value)} (${one.arm})`;
  const line = (one) => `${one.run} ${one.who}`;
  const drawn = svg({
    width, height: HEIGHT, marginLeft: LEFT, marginRight: RIGHT, marginTop: 10, marginBottom: 28,
    ariaLabel: visible(`${title}: ${means.map((one) => `${one.arm}, ${one.point}: mean ${number(one.mean)}${one.interval ? `, from ${number(one.interval[0])} to ${number(one.interval[1])}` : ""}, ${count(one.n)}`).join("; ")}`),
    x: { ...timeAxis({ start: found.runs[0].clock.start }, from, to, width - LEFT - RIGHT), insetLeft: 8, insetRight: 8 }, y: { domain, grid: true, label: null, ticks: 4, tickSize: 0, clamp: true },
    marks: [
      ...arms.map((arm, index) => Plot.line(points.filter((one) => one.arm === arm), { x, y: "value", z: line, dy: aside(index), stroke: (one) => color(one.arm), strokeOpacity: 0.35, strokeWidth: 1 })),
      ...arms.map((arm, index) => Plot.line(means.filter((one) => one.arm === arm), { x, y: "mean", dy: aside(index), stroke: color(arm), strokeWidth: 2.4, strokeDasharray: DASHES[index % ARMS] })),
      Plot.link(means.filter((one) => one.interval), { x1: x, x2: x, y1: (one) => one.interval[0], y2: (one) => one.interval[1], stroke: (one) => color(one.arm), strokeWidth: 2 }),
      Plot.dot(points, { x, y: "value", r: 3.5, symbol: (one) => SYMBOLS[arms.indexOf(one.arm) % ARMS], fill: (one) => color(one.arm), stroke: "var(--sheet)", strokeWidth: 0.7, className: "measured" }),
    ],
    symbol: { range: SYMBOLS },
  });
  return pressable(drawn, ".measured > *", (index) => words(points[index]), (index) => { location.href = to_run(points[index], series); });
}

/** The address of a point in its run. */
function to_run(point, series) {
  const key = keyOf({ ...point, ...series, round: 1, chats: point.chats });
  return `/run/${encodeURIComponent(point.run)}#${new URLSearchParams({ panel: "outcomes", point: key, tick: point.tick, who: point.who })}`;
}

/** The means once more, to be read and copied. */
function numbers(found) {
  const rows = found.series.flatMap((series) => series.means.map((one) => [found.scales[series.instrument].name, scoreName(found.scales[series.instrument], series.score), RESPONDENTS[series.respondent], one.arm, one.point, number(one.mean), one.interval ? `${number(one.interval[0])} to ${number(one.interval[1])}` : "–", String(one.n)]));
  const heads = ["Scale", "Score", "Answered", "Arm", "When", "Mean", "95 % interval", "Runs"];
  const copy = () => navigator.clipboard.writeText([heads, ...rows].map((row) => row.join("\t")).join("\n"));
  return h("details", { open: true }, h("summary", {}, "In numbers"), h("p", {}, h("button", { type: "button", onclick: copy }, "Copy as a table")),
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "In numbers" }, h("table", {}, h("thead", {}, h("tr", {}, heads.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, said(cell)))))))));
}
