// The frame of a picture of days: the hours that are there across, a row for each day of somebody, the name of each row, the mark of the moment, and what lies under the pointer.

import { Plot, chart, svg } from "./chart.js";
import { minuteOf } from "./clock.js";
import { h, visible } from "./dom.js";

const TOP = 22; // for the hours
const DAY = 24 * 60;
const NAME_PX = 12;
const HOUR_PX = 60; // between two hours that are named

/** The first and the last hour of the day that any row has. */
function hours(overview, rows) {
  const hour = (tick, day) => (minuteOf(overview, tick) - day.number * DAY) / 60;
  const found = rows.map(({ day }) => [Math.floor(hour(day.from, day)), Math.ceil(hour(day.to, day))]);
  return found.length ? [Math.min(...found.map(([from]) => from)), Math.max(...found.map(([, to]) => to))] : [0, 24];
}

/** A picture that fits its width. rows: [{name, who, day}], a day as `days` of clock.js gives it.
 *
 * look: {row: the height of one in px; span: from where to where in it the mark of the moment goes; side: room at both sides;
 * label: the whole in words; marks(hour, [first, last]): of Plot, over x in hours, from the first to the last, and y in px from above, an hour being so many px wide;
 * told(row, tick): words at the pointer; press(row, tick); ready(picture)}. `at(tick, who)` of what is given back moves the mark. */
export function dayRows(overview, rows, look) {
  const { row: height, side } = look;
  const [first, last] = hours(overview, rows);
  let moment = null;
  let mark = null;
  const box = chart((width) => {
    const picture = draw(width);
    mark = picture.appendChild(h("line", { class: "cursor" }));
    place();
    return picture;
  }, { class: "dayrows" });

  function draw(width) {
    const all = rows.length * height;
    const every = [1, 2, 3, 6].find((step) => (width - 2 * side) / ((last - first) / step) > HOUR_PX) || 6;
    const ticks = Array.from({ length: 25 }, (_, hour) => hour).filter((hour) => hour >= first && hour <= last && !(hour % every));
    const picture = svg({
      width, height: all + TOP, marginTop: TOP, marginBottom: 0, marginLeft: side, marginRight: side, ariaLabel: visible(look.label),
      x: { domain: [first, last], axis: "top", ticks, tickFormat: (at) => `${String(at).padStart(2, "0")}:00`, tickSize: 3, label: null }, y: { domain: [all, 0], axis: null },
      marks: [Plot.ruleX(ticks, { y1: 0, y2: all, stroke: "var(--line)" }), ...look.marks((width - 2 * side) / (last - first), [first, last]), Plot.text(rows, { x: first, y: (_, index) => index * height + 8, text: (row) => visible(row.name), textAnchor: "start", textOverflow: "ellipsis-end", lineWidth: (width - 2 * side) / NAME_PX, fontWeight: 600, fontSize: NAME_PX, fill: "var(--ink)" })],
    });
    look.ready?.(picture);
    const tip = picture.appendChild(h("title", {}));
    picture.addEventListener("pointermove", (event) => {
      const there = under(event, picture, width);
      tip.textContent = there ? visible(look.told(there.row, there.tick)) : "";
    });
    picture.addEventListener("click", (event) => {
      const there = event.target.closest(".pressable") ? null : under(event, picture, width);
      if (there) look.press(there.row, there.tick);
    });
    return picture;
  }

  /** Which row and which tick lies under the pointer; null where there is none. */
  function under(event, picture, width) {
    const bounds = picture.getBoundingClientRect();
    const factor = width / bounds.width;
    const row = rows[Math.floor(((event.clientY - bounds.top) * factor - TOP) / height)];
    if (!row) return null;
    const minute = row.day.number * DAY + (first + (((event.clientX - bounds.left) * factor - side) / (width - 2 * side)) * (last - first)) * 60;
    const tick = Math.floor((minute - overview.first_minute) / overview.tick_minutes);
    return tick >= row.day.from && tick < row.day.to ? { row, tick } : null;
  }

  function place() {
    const index = moment ? rows.findIndex(({ who, day }) => who === moment.who && day.from <= moment.tick && moment.tick < day.to) : -1;
    if (!mark) return;
    mark.style.display = index < 0 ? "none" : "";
    if (index < 0) return;
    const hour = (minuteOf(overview, moment.tick) - rows[index].day.number * DAY) / 60;
    const x = side + ((hour - first) / (last - first)) * (Number(mark.ownerSVGElement.getAttribute("width")) - 2 * side);
    const [from, to] = look.span;
    for (const [key, value] of Object.entries({ x1: x, x2: x, y1: TOP + index * height + from, y2: TOP + index * height + to })) mark.setAttribute(key, value);
  }

  return {
    box,
    at(tick, who) {
      moment = { tick, who };
      place();
    },
  };
}
