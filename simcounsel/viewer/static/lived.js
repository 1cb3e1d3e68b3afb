// What somebody did, planned and felt on one day, as stretches of hours: what the pictures of days are drawn from.

import { minuteOf } from "./clock.js";
import { signed } from "./palette.js";
import { stretches } from "./track.js";

/** {hour, done, meant, felt} of a day, as `days` of clock.js gives it, while the person is there: stretches from x1 to x2 in hours of that day, of a `kind` of activity and its `text`, or of an `emotion` with its signed intensity as `value`. `hour(tick)` is where a tick lies. */
export function lived(overview, who, day) {
  const track = overview.tracks[who];
  const { texts } = overview;
  const hour = (tick) => (minuteOf(overview, tick) - day.number * 1440) / 60;
  const there = stretches(track.here, day.from, day.to).filter(({ state: [here] }) => here);
  const spans = (list, made) => there.flatMap(({ from, to }) => stretches(list, from, to)).map(({ from, to, state }) => ({ x1: hour(from), x2: hour(to), ...made(state) }));
  const activity = ([text, kind]) => ({ text: texts[text], kind: texts[kind] });
  return {
    hour,
    done: spans(track.doing, activity),
    meant: spans(track.planned, activity),
    felt: spans(track.feeling, ([emotion, intensity]) => ({ emotion: texts[emotion], value: signed(texts[emotion], intensity) })),
  };
}

/** Stretches with a height `y` as the points of a step line, broken where there is a gap and between rows. */
export function stepped(felt) {
  return felt.flatMap((one, index) => {
    const before = felt[index - 1];
    const goes = before && before.middle === one.middle && before.x2 === one.x1;
    return [...(goes ? [] : [{ x: one.x1, y: NaN }]), { x: one.x1, y: one.y }, { x: one.x2, y: one.y }];
  });
}
