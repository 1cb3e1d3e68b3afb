// An actogram: the hours of the day across, a row for each day of a person, or for each person of a day. In each row the feeling as a line above or below its middle, the talks, what was done as a band, and what had been planned as a thin one.

import { Plot, pressable } from "./chart.js";
import { minuteOf, timeOf } from "./clock.js";
import { dayRows } from "./dayrows.js";
import { glyph } from "./feel.js";
import { lived, stepped } from "./lived.js";
import { colorOf, inkOn } from "./palette.js";
import { show } from "./state.js";
import { stateAt } from "./track.js";

const [NAME, FEEL, BAND, PLAN, GAP] = [17, 44, 19, 5, 12]; // heights within a row, in px
const ROW = NAME + FEEL + BAND + PLAN + GAP;
const [MIDDLE, DONE, TALK, MEANT] = [NAME + FEEL / 2, NAME + FEEL + 1, NAME + FEEL - 1, NAME + FEEL + BAND + 2]; // from a row's top
const SIDE = 18;
const LETTER_PX = 6.4; // about the width of a letter
const GLYPH_PX = 13;
const MOST = 10; // of an intensity

/** The rows as a picture that fits its width. rows: [{name, who, day}], a day as `days` of clock.js gives it. `at(tick, who)` of what is given back moves the mark of the moment; `kinds`: of activity, that are drawn. */
export function actogram(overview, rows, label) {
  const drawn = rows.map((row, index) => read(overview, row, index * ROW));
  const met = drawn.flatMap((row) => meetings(overview, row, drawn));
  const clock = (tick) => timeOf(minuteOf(overview, tick));
  const said = ({ talk, row }) => `${row.name}, ${clock(talk.tick)}: ${talk.who.join(" and ")} talk, ${talk.lines} lines`;

  function told({ who }, tick) {
    const now = stateAt(overview, who, tick);
    if (!now.here) return `${clock(tick)} ${who} is not there`;
    const planned = now.planned && now.planned.doing !== now.doing ? `\nplanned: ${now.planned.doing}` : "";
    return `${clock(tick)} ${who}: ${now.doing || "nothing yet"} (${now.kind || "?"})${planned}\nfeels ${now.emotion}, ${now.intensity} of ${MOST}`;
  }

  const picture = dayRows(overview, drawn, {
    row: ROW, span: [NAME, ROW - GAP + 2], side: SIDE, label, told,
    marks: (hour, [from, to]) => [...feelings(drawn, hour, from, to), ...bands(drawn, hour), ...talks(met)],
    press: ({ who }, tick) => show({ tick, who }),
    ready: (made) => pressable(made, ".talk > *", (index) => said(met[index]), (index) => show({ tick: met[index].talk.tick, chat: met[index].talk.chat, panel: "talks" })),
  });
  return { ...picture, kinds: new Set(drawn.flatMap((row) => [...row.done, ...row.meant].map((one) => one.kind))) };
}

/** A row with its stretches at their heights from `y`. */
function read(overview, { name, who, day }, y) {
  const { hour, done, meant, felt } = lived(overview, who, day);
  return {
    name, who, day, y, hour,
    done: done.map((one) => ({ ...one, y: y + DONE })),
    meant: meant.map((one) => ({ ...one, y: y + MEANT })),
    felt: felt.map((one) => ({ ...one, middle: y + MIDDLE, y: y + MIDDLE - (one.value * FEEL) / (2 * MOST) })),
    talks: overview.talks.filter((one) => one.who.includes(who) && one.tick >= day.from && one.tick < day.to),
  };
}

/** The feeling: a step line about the row's middle, filled towards it; the emotion's sign where there is room. */
function feelings(rows, hour, from, to) {
  const felt = rows.flatMap((row) => row.felt);
  const roomy = felt.filter((one) => one.emotion !== "neutral" && (one.x2 - one.x1) * hour >= GLYPH_PX);
  return [
    Plot.link(rows, { x1: from, x2: to, y1: (row) => row.y + MIDDLE, y2: (row) => row.y + MIDDLE, stroke: "var(--line)" }),
    Plot.rect(felt.filter((one) => one.value), { x1: "x1", x2: "x2", y1: "middle", y2: "y", fill: (one) => (one.value > 0 ? "var(--feel-up)" : "var(--feel-down)"), fillOpacity: 0.45 }),
    Plot.line(stepped(felt), { x: "x", y: "y", stroke: "var(--ink)", strokeWidth: 1.3 }),
    Plot.text(roomy, { x: (one) => (one.x1 + one.x2) / 2, y: (one) => one.middle + (one.value < 0 ? -7 : 8), text: (one) => glyph(one.emotion), fill: "var(--ink)", fontSize: 10 }),
  ];
}

/** What was done, with its word where it fits, and beneath it what had been planned. */
function bands(rows, hour) {
  const done = rows.flatMap((row) => row.done);
  const colored = { x1: "x1", x2: "x2", y1: "y", fill: (one) => colorOf(one.kind) };
  return [
    Plot.rect(done, { ...colored, y2: (one) => one.y + BAND, stroke: "var(--sheet)", strokeWidth: 0.7 }),
    Plot.rect(rows.flatMap((row) => row.meant), { ...colored, y2: (one) => one.y + PLAN }),
    Plot.text(done.filter((one) => (one.x2 - one.x1) * hour > (one.kind.length + 1) * LETTER_PX), { x: (one) => (one.x1 + one.x2) / 2, y: (one) => one.y + BAND / 2 + 0.5, text: "kind", fill: (one) => inkOn(one.kind), fontSize: 10.5 }),
  ];
}

/** Each talk of a row. `other`: where the next one who takes part has their row of the same day; null when none lies below. */
function meetings(overview, row, rows) {
  const counselors = new Set(overview.people.filter((one) => one.role === "counselor").map((one) => one.name));
  return row.talks.map((talk) => {
    const below = rows.find((one) => one.y > row.y && one.day === row.day && talk.who.includes(one.who));
    return { talk, row, x: row.hour(talk.tick + 0.5), y: row.y + TALK, other: below ? below.y + TALK : null, counselor: talk.who.some((name) => counselors.has(name)) };
  });
}

/** A mark for each talk, a filled diamond where a counselor takes part; and between rows, who talks with whom. */
function talks(met) {
  return [
    Plot.link(met.filter((one) => one.other !== null), { x1: "x", x2: "x", y1: "y", y2: "other", stroke: "var(--ink)", strokeWidth: 1.2 }),
    Plot.dot(met, { x: "x", y: "y", r: 5, symbol: (one) => (one.counselor ? "diamond" : "circle"), fill: (one) => (one.counselor ? "var(--ink)" : "var(--sheet)"), stroke: (one) => (one.counselor ? "var(--sheet)" : "var(--ink)"), strokeWidth: 1.5, className: "talk" }),
  ];
}
