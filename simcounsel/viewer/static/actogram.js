// An actogram: 24 hours across, a row for each day of a person, or for each person of a day. In each row the feeling as a line above or below its middle, the talks, what was done as a band, and what had been planned as a thin one.

import { Plot, chart, pressable, svg } from "./chart.js";
import { minuteOf, timeOf } from "./clock.js";
import { h, visible } from "./dom.js";
import { glyph } from "./feel.js";
import { colorOf, inkOn, signed } from "./palette.js";
import { show } from "./state.js";
import { stateAt, stretches } from "./track.js";

const [NAME, FEEL, BAND, PLAN, GAP] = [17, 44, 19, 5, 12]; // heights within a row, in px
const ROW = NAME + FEEL + BAND + PLAN + GAP;
const [MIDDLE, DONE, TALK, MEANT] = [NAME + FEEL / 2, NAME + FEEL + 1, NAME + FEEL - 1, NAME + FEEL + BAND + 2]; // from a row's top
const [TOP, SIDE] = [22, 18];
const LETTER_PX = 6.4; // about the width of a letter
const GLYPH_PX = 13;
const MOST = 10; // of an intensity

/** The rows as a picture that fits its width. rows: [{name, who, day}], a day as `days` of clock.js gives it. `at(tick, who)` of what is given back moves the mark of the moment. */
export function actogram(overview, rows, label) {
  const drawn = rows.map((row, index) => read(overview, row, index * ROW));
  let moment = null;
  let mark = null;
  const box = chart((width) => {
    const picture = draw(width);
    mark = picture.appendChild(h("line", { class: "cursor" }));
    place();
    return picture;
  }, { class: "actogram" });

  function draw(width) {
    const height = drawn.length * ROW;
    const hour = (width - 2 * SIDE) / 24;
    const every = width < 520 ? 6 : width < 820 ? 3 : 2;
    const ticks = Array.from({ length: 24 / every + 1 }, (_, index) => index * every);
    const met = drawn.flatMap((row) => meetings(overview, row, drawn));
    const picture = svg({
      width, height: height + TOP, marginTop: TOP, marginBottom: 0, marginLeft: SIDE, marginRight: SIDE, ariaLabel: visible(label),
      x: { domain: [0, 24], axis: "top", ticks, tickFormat: (at) => `${String(at).padStart(2, "0")}:00`, tickSize: 3, label: null }, y: { domain: [height, 0], axis: null },
      marks: [Plot.ruleX(ticks, { y1: 0, y2: height, stroke: "var(--line)" }), ...feelings(drawn, hour), ...bands(drawn, hour), ...talks(met)],
    });
    pressable(picture, ".talk > *", (index) => said(met[index]), (index) => show({ tick: met[index].talk.tick, chat: met[index].talk.chat, panel: "talks" }));
    const tip = picture.appendChild(h("title", {}));
    picture.addEventListener("pointermove", (event) => {
      const there = under(event, picture, width);
      tip.textContent = there ? visible(told(there)) : "";
    });
    picture.addEventListener("click", (event) => {
      const there = event.target.closest(".pressable") ? null : under(event, picture, width);
      if (there) show({ tick: there.tick, who: there.row.who });
    });
    return picture;
  }

  const clock = (tick) => timeOf(minuteOf(overview, tick));
  const said = ({ talk, row }) => `${row.name}, ${clock(talk.tick)}: ${talk.who.join(" and ")} talk, ${talk.lines} lines`;

  /** Whose row and which tick lies under the pointer; null where there is none. */
  function under(event, picture, width) {
    const bounds = picture.getBoundingClientRect();
    const factor = width / bounds.width;
    const row = drawn[Math.floor(((event.clientY - bounds.top) * factor - TOP) / ROW)];
    if (!row) return null;
    const minute = row.day.number * 1440 + (((event.clientX - bounds.left) * factor - SIDE) / (width - 2 * SIDE)) * 1440;
    const tick = Math.floor((minute - overview.first_minute) / overview.tick_minutes);
    return tick >= row.day.from && tick < row.day.to ? { row, tick } : null;
  }

  function told({ row, tick }) {
    const now = stateAt(overview, row.who, tick);
    if (!now.here) return `${clock(tick)} ${row.who} is not there`;
    const planned = now.planned && now.planned.doing !== now.doing ? `\nplanned: ${now.planned.doing}` : "";
    return `${clock(tick)} ${row.who}: ${now.doing || "nothing yet"} (${now.kind || "?"})${planned}\nfeels ${now.emotion}, ${now.intensity} of ${MOST}`;
  }

  /** Move the mark of the moment. */
  function place() {
    const row = moment && drawn.find((one) => one.who === moment.who && one.day.from <= moment.tick && moment.tick < one.day.to);
    if (!mark) return;
    mark.style.display = row ? "" : "none";
    if (!row) return;
    const width = Number(mark.ownerSVGElement.getAttribute("width"));
    const x = SIDE + (row.hour(moment.tick) / 24) * (width - 2 * SIDE);
    for (const [key, value] of Object.entries({ x1: x, x2: x, y1: TOP + row.y + NAME, y2: TOP + row.y + ROW - GAP + 2 })) mark.setAttribute(key, value);
  }

  return {
    box,
    kinds: new Set(drawn.flatMap((row) => [...row.done, ...row.meant].map((one) => one.kind))),
    at(tick, who) {
      moment = { tick, who };
      place();
    },
  };
}

/** A row with its stretches, while the person is there: hours from x1 to x2, heights from `y`. */
function read(overview, { name, who, day }, y) {
  const track = overview.tracks[who];
  const { texts } = overview;
  const hour = (tick) => (minuteOf(overview, tick) - day.number * 1440) / 60;
  const there = stretches(track.here, day.from, day.to).filter(({ state: [here] }) => here);
  const spans = (list, made) => there.flatMap(({ from, to }) => stretches(list, from, to)).map(({ from, to, state }) => ({ x1: hour(from), x2: hour(to), ...made(state) }));
  const kind = ([, number]) => ({ kind: texts[number] });
  return {
    name, who, day, y, hour,
    done: spans(track.doing, kind).map((one) => ({ ...one, y: y + DONE })),
    meant: spans(track.planned, kind).map((one) => ({ ...one, y: y + MEANT })),
    felt: spans(track.feeling, ([emotion, intensity]) => ({ emotion: texts[emotion], value: signed(texts[emotion], intensity) })).map((one) => ({ ...one, middle: y + MIDDLE, y: y + MIDDLE - (one.value * FEEL) / (2 * MOST) })),
    talks: overview.talks.filter((one) => one.who.includes(who) && one.tick >= day.from && one.tick < day.to),
  };
}

/** The feeling: a step line about the row's middle, filled towards it; the emotion's sign where there is room. */
function feelings(rows, hour) {
  const felt = rows.flatMap((row) => row.felt);
  const roomy = felt.filter((one) => one.emotion !== "neutral" && (one.x2 - one.x1) * hour >= GLYPH_PX);
  const line = felt.flatMap((one, index) => {
    const goes = index > 0 && felt[index - 1].middle === one.middle && felt[index - 1].x2 === one.x1;
    return [...(goes ? [] : [{ x: one.x1, y: NaN }]), { x: one.x1, y: one.y }, { x: one.x2, y: one.y }];
  });
  return [
    Plot.link(rows, { x1: 0, x2: 24, y1: (row) => row.y + MIDDLE, y2: (row) => row.y + MIDDLE, stroke: "var(--line)" }),
    Plot.rect(felt.filter((one) => one.value), { x1: "x1", x2: "x2", y1: "middle", y2: "y", fill: (one) => (one.value > 0 ? "var(--feel-up)" : "var(--feel-down)"), fillOpacity: 0.45 }),
    Plot.line(line, { x: "x", y: "y", stroke: "var(--ink)", strokeWidth: 1.3 }),
    Plot.text(roomy, { x: (one) => (one.x1 + one.x2) / 2, y: (one) => one.middle + (one.value < 0 ? -7 : 8), text: (one) => glyph(one.emotion), fill: "var(--ink)", fontSize: 10 }),
    Plot.text(rows, { x: 0, y: (row) => row.y + 8, text: (row) => visible(row.name), textAnchor: "start", fontWeight: 600, fontSize: 12, fill: "var(--ink)" }),
  ];
}

/** What was done, with as much of its word as fits, and beneath it what had been planned. */
function bands(rows, hour) {
  const done = rows.flatMap((row) => row.done);
  const colored = { x1: "x1", x2: "x2", y1: "y", fill: (one) => colorOf(one.kind) };
  return [
    Plot.rect(done, { ...colored, y2: (one) => one.y + BAND, stroke: "var(--sheet)", strokeWidth: 0.7 }),
    Plot.rect(rows.flatMap((row) => row.meant), { ...colored, y2: (one) => one.y + PLAN }),
    Plot.text(done, { x: (one) => (one.x1 + one.x2) / 2, y: (one) => one.y + BAND / 2 + 0.5, text: (one) => fitting(one.kind, (one.x2 - one.x1) * hour), fill: (one) => inkOn(one.kind), fontSize: 10.5 }),
  ];
}

/** The word, two letters of it, or nothing, as there is room. */
function fitting(word, width) {
  const letters = Math.floor((width - 4) / LETTER_PX);
  return letters >= word.length ? word : letters >= 2 ? word.slice(0, 2) : "";
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
