// Simulated time along a chart: days by name, hours where there are few days.

import { dayOf, timeOf } from "./clock.js";

const DAY = 24 * 60;
const LABEL_PX = 70; // of a day's name

/** The `x` of a chart over the minutes from `from` to `to`, so many px wide. */
export function timeAxis(overview, from, to, width) {
  const days = Math.max(1, Math.ceil((to - from) / DAY));
  const room = Math.max(LABEL_PX, width);
  const hourly = days <= 2 && room / (days * 4) > LABEL_PX / 2;
  const step = hourly ? 6 * 60 : DAY * Math.ceil((days * LABEL_PX) / room);
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(at);
  return { domain: [from, Math.max(to, from + 60)], ticks, tickFormat: (at) => (hourly && at % DAY ? timeOf(at) : short(dayOf(overview, at))), label: null };
}

/** "Mon 2 Mar" of "Monday 2 March"; "Day 3" as it is. */
const short = (name) => name.split(" ").map((word) => (/^\d|^Day/.test(word) ? word : word.slice(0, 3))).join(" ");
