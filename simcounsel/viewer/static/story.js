// The head of a run's page: who somebody is, what troubles them, what happened to them, and the moments to look at first.

import { LEVELS } from "./danger.js";
import { h, said, sentence } from "./dom.js";
import { keyOf, number } from "./scores.js";
import { get, path } from "./source.js";
import { show } from "./state.js";

const SELF = ["self", "human"]; // their own answers come before an observer's
const SCALES = 2; // as many as a line holds

/** Three lines about `who`, as a details element that is open where there is room. */
export async function story(run, overview, who, open) {
  const [person, found] = await Promise.all([get(run, path("person", who)), get(run, "outcomes")]);
  const { age, occupation, theme } = person.sheet;
  const role = overview.people.find((one) => one.name === who)?.role;
  const felt = person.versions[0]?.recent_feeling || "";
  const rewritten = person.versions.slice(1);
  return h("details", { class: "story", open },
    h("summary", {}, h("b", {}, said(who)), said([age, occupation, role].filter(Boolean).map((one) => `, ${one}`).join(""))),
    felt || theme ? h("p", {}, theme ? said(sentence(theme)) : null, " ", said(first(felt))) : null,
    h("p", {}, said(happened(overview, found, who, rewritten.length)), " ", moments(overview, found, who, rewritten)));
}

/** The first sentence of a text. */
const first = (text) => /^.*?[.!?。！？](?=\s|$|[^.!?\s])/su.exec(text)?.[0] || text;
const times = (count) => (count === 1 ? "once" : count === 2 ? "twice" : `${count} times`);

function happened(overview, found, who, rewritten) {
  const danger = (overview.dangers?.heard || []).filter((one) => one.who === who).map((one) => one.level);
  const worst = Object.keys(LEVELS).findLast((level) => danger.includes(level));
  const met = new Map();
  for (const talk of overview.talks.filter((one) => one.who.includes(who))) for (const other of talk.who) if (other !== who) met.set(other, (met.get(other) || 0) + 1);
  const people = [...met].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([other, count]) => `${other} (${overview.people.find((one) => one.name === other)?.role || "?"}) ${times(count)}`);
  return sentence([
    ...scores(found, who).map(({ scale, one, last }) => (one === last ? `${scale.name} ${number(valueOf(one))}` : `${scale.name} ${number(valueOf(one))} → ${number(valueOf(last))}`)),
    people.length ? `talked with ${people.join(", ")}` : "talked with nobody", `portrait ${rewritten ? `rewritten ${times(rewritten)}` : "unchanged"}`, worst ? LEVELS[worst] : "no danger heard",
  ].join("; "));
}

const valueOf = (point) => point.scores[0]?.value;

/** The first and the last point of a few scales. */
function scores(found, who) {
  const mine = found.points.filter((one) => one.who === who && one.round === 1 && valueOf(one) !== null && valueOf(one) !== undefined && !one.trial);
  const self = mine.filter((one) => SELF.includes(one.respondent));
  const points = self.length ? self : mine;
  return [...new Set(points.map((one) => one.instrument))].slice(0, SCALES).map((name) => {
    const all = points.filter((one) => one.instrument === name);
    return { scale: found.scales[name], one: all[0], last: all.at(-1) };
  });
}

function moments(overview, found, who, rewritten) {
  const session = sessionOf(overview, who);
  const [heard] = (overview.dangers?.heard || []).filter((one) => one.who === who && one.chat);
  const last = scores(found, who)[0]?.last;
  const links = [
    session ? ["the first session", { panel: "talks", chat: session.chat, tick: session.tick, line: null }] : null,
    heard ? ["the danger", { panel: "talks", chat: heard.chat, line: heard.message, tick: heard.tick }] : null,
    rewritten.length ? ["the new portrait", { panel: "person", tick: rewritten[0].tick }] : null,
    last ? ["the last score", { panel: "outcomes", point: keyOf(last), tick: last.tick }] : null,
  ].filter(Boolean).slice(0, 3);
  return links.length ? ["See ", links.map(([words, to], index) => [index ? ", " : "", h("button", { type: "button", class: "plain", onclick: () => show({ who, ...to }) }, words)]), "."] : null;
}

/** The first talk of somebody with a counselor, or else with anybody; of whoever talks first where nobody is named. */
export function sessionOf(overview, who = null) {
  const roles = new Map(overview.people.map((one) => [one.name, one.role]));
  const mine = overview.talks.filter((one) => !who || one.who.includes(who));
  return mine.find((one) => ["client", "counselor"].every((role) => one.who.some((name) => roles.get(name) === role))) || mine[0];
}
