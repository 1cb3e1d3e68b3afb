// Simulated time in words. Minutes are counted from midnight of the day on which the world starts.

const DAY = 24 * 60;
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];

/** The minute at which a tick begins. */
export const minuteOf = (overview, tick) => overview.first_minute + tick * overview.tick_minutes;

/** "07:15" */
export function timeOf(minute) {
  const ofDay = ((minute % DAY) + DAY) % DAY;
  return `${String(Math.floor(ofDay / 60)).padStart(2, "0")}:${String(ofDay % 60).padStart(2, "0")}`;
}

/** "Monday 2 March", or "Day 1" where the world's start is not known. */
export function dayOf(overview, minute) {
  const number = Math.floor(minute / DAY);
  const start = /^(\d{4})-(\d\d)-(\d\d)/.exec(overview.start || "");
  if (!start) return `Day ${number + 1}`;
  const date = new Date(Date.UTC(Number(start[1]), Number(start[2]) - 1, Number(start[3]) + number));
  return `${WEEKDAYS[date.getUTCDay()]} ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
}

/** "Monday 2 March, 07:15" */
export function momentOf(overview, tick) {
  const minute = minuteOf(overview, tick);
  return `${dayOf(overview, minute)}, ${timeOf(minute)}`;
}

/** The ticks of each day: [{number, name, from, to}], `to` not included. */
export function days(overview) {
  const found = [];
  for (let tick = 0; tick < Math.max(1, overview.ticks); ) {
    const minute = minuteOf(overview, tick);
    const number = Math.floor(minute / DAY);
    const next = Math.ceil(((number + 1) * DAY - overview.first_minute) / overview.tick_minutes);
    found.push({ number, name: dayOf(overview, minute), from: tick, to: Math.min(next, overview.ticks) });
    tick = next;
  }
  return found;
}

/** Whether it is night at a minute: from 22 to 6. */
export const isNight = (minute) => ((minute % DAY) + DAY) % DAY < 6 * 60 || ((minute % DAY) + DAY) % DAY >= 22 * 60;
