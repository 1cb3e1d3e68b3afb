// Histories: lists in the order of ticks; what holds at a moment is the last item that is not later.

/** The index of the last item not later than `tick`, by `key`; -1 when there is none. */
export function lastAt(list, tick, key = (item) => item[0]) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(list[middle]) <= tick) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The last item not later than `tick`; null when there is none. */
export function at(list, tick, key) {
  const index = lastAt(list, tick, key);
  return index < 0 ? null : list[index];
}

/** All items not later than `tick`. */
export const until = (list, tick, key = (item) => item.tick) => list.slice(0, lastAt(list, tick, key) + 1);

/** A person's state at a tick, out of an overview: {here, doing, kind, place, emotion, intensity, planned}. */
export function stateAt(overview, who, tick) {
  const track = overview.tracks[who];
  const { texts } = overview;
  const doing = track && at(track.doing, tick);
  const feeling = track && at(track.feeling, tick);
  const planned = track && at(track.planned, tick);
  const here = track && at(track.here, tick);
  const person = overview.people.find((one) => one.name === who);
  return {
    here: Boolean(here && here[1]),
    doing: doing ? texts[doing[1]] : null, kind: doing ? texts[doing[2]] : null, place: doing ? texts[doing[3]] : person ? person.place : null,
    emotion: feeling ? texts[feeling[1]] : "neutral", intensity: feeling ? feeling[2] : 1,
    planned: planned ? { doing: texts[planned[1]], kind: texts[planned[2]], place: texts[planned[3]] } : null,
  };
}

/** Stretches of one state in [from, to): [{from, to, state}]. */
export function stretches(track, from, to) {
  const found = [];
  let index = Math.max(0, lastAt(track, from));
  for (; index < track.length && track[index][0] < to; index += 1) {
    const end = index + 1 < track.length ? track[index + 1][0] : to;
    const [start, stop] = [Math.max(from, track[index][0]), Math.min(to, end)];
    if (stop > start) found.push({ from: start, to: stop, state: track[index].slice(1) });
  }
  return found;
}
