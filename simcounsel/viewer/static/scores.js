// How scores are named and written, wherever they are shown.

import { momentOf } from "./clock.js";

export const RESPONDENTS = { self: "simulated self-report", human: "asked of the person in the seat", observer: "rated by an observer", talk: "counted from the lines" };

/** When a score was measured, as the plan names it; a tick by its date. */
export const pointName = (overview, point) => (/^tick \d+$/.test(point.point) ? momentOf(overview, point.tick) : point.point);

/** How an address names a point. */
export const keyOf = (point) => [point.instrument, point.who, point.tick, point.respondent, point.round, ...point.chats].join("~");

/** What a score is called. */
export const scoreName = (scale, name) => scale.scores?.[name]?.name || name.replaceAll("_", " ");

/** A score as it is written: at most two decimals. */
export const number = (value) => String(Math.round(value * 100) / 100).replace("-", "−");
