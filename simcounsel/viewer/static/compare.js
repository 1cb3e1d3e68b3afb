// Two runs on one clock: where what people do and feel differs and by how much, and what became of their personas and relationships.

import { apartDays, hoursChart } from "./apart.js";
import { days, momentOf } from "./clock.js";
import { fill, h, said } from "./dom.js";
import { badge } from "./feel.js";
import { kindsLegend } from "./palette.js";
import { mountPlayer } from "./player.js";
import { number, RESPONDENTS } from "./scores.js";
import { get, path } from "./source.js";
import { onShow, show, state } from "./state.js";
import { tour } from "./tour.js";
import { at, stateAt, until } from "./track.js";
import { marked } from "./words.js";

const DAYS = 7; // the most in one picture
const names = new URLSearchParams(location.search);
const [nameA, nameB] = [names.get("a"), names.get("b")];
const main = document.getElementById("main");

start().catch((error) => fill(main, h("p", { class: "page warn", role: "alert" }, error.message)));

async function start() {
  if (!nameA || !nameB) throw new Error("Name two runs: /compare?a=RUN&b=RUN, or tick two in the list of runs.");
  const apart = await get(null, `compare?a=${encodeURIComponent(nameA)}&b=${encodeURIComponent(nameB)}`); // first, since it says why two cannot be compared
  const [a, b] = await Promise.all([get(nameA, "overview"), get(nameB, "overview")]);
  const longer = a.ticks >= b.ticks ? a : b;
  const bar = h("footer", { class: "time", "aria-label": "Time" });
  const guide = h("div", { class: "guide" });
  const title = (name) => h("a", { href: `/run/${encodeURIComponent(name)}#tick=${state().tick || 0}` }, name);
  const sections = apart.people.map((one) => person({ ...one, scores: apart.scores.filter(({ who }) => who === one.name) }, a, b));
  fill(document.getElementById("head"), h("h1", {}, "Compare"), h("a", { href: "/" }, "runs"));
  fill(main, guide, h("div", { class: "two" }, h("div", { class: "sides" }, h("div", {}, h("h2", {}, "A: ", title(nameA)), facts(a)), h("div", {}, h("h2", {}, "B: ", title(nameB)), facts(b))),
    answer(apart, a), parting(apart, longer),
    sections.length ? [reading(new Set(sections.flatMap((one) => [...one.kinds]))), sections.map((one) => one.box)] : h("p", { class: "warn" }, "Nobody lives in both runs; choose two runs of the same client.")), bar);
  if (state().tick === undefined) show({ tick: apart.parted ?? 0 }, true);
  const player = mountPlayer(bar, { ...longer, moments: [...a.moments, ...b.moments], talks: [] }, { waits: () => 0, onLine: () => {} });
  const draw = async () => {
    player.update();
    fill(guide, tour());
    await Promise.all(sections.map((one) => one.at(player.tick())));
  };
  onShow(() => draw());
  await draw();
}

/** What came of it, in a sentence about each client: scores, sleep, and who was met. */
function answer(apart, a) {
  const clients = a.people.filter((one) => one.role === "client").map((one) => one.name);
  return apart.people.filter((one) => clients.includes(one.name) && one.together).map(({ name: who, hours, talks }) => {
    const scored = apart.scores.filter((one) => one.who === who && one.score === "total" && !one.trial);
    const all = [...scored.filter(({ respondent }) => respondent === "self"), ...scored.filter(({ respondent }) => respondent !== "self")].slice(0, 2);
    const [slept, met] = [hours.sleep || [0, 0], talks.map((one) => one.met.join(" and ") || "nobody")];
    return h("p", { class: "answer" }, h("b", {}, said(who), ": "), said([
      ...all.map((one) => `${one.instrument.replaceAll("_", " ")} ${one.a === one.b ? `is ${number(one.a)} in both` : `is ${number(one.a)} in A, ${number(one.b)} in B`}`),
      slept[0] === slept[1] ? `slept ${number(slept[0])} h in both` : `slept ${number(slept[0])} h in A, ${number(slept[1])} h in B`,
      met[0] === met[1] ? `met ${met[0]} in both` : `met ${met[0]} in A, ${met[1]} in B`].join("; ")), ".");
  });
}

/** Where the two part, and who is in one alone. */
function parting(apart, longer) {
  const part = apart.parted === null ? "What people do and feel is the same in both." : `They part on ${momentOf(longer, apart.parted)}${apart.forked === apart.parted ? ", where one was forked" : ""}.`;
  const { said: lines } = apart;
  const talk = lines.parted === null ? "What is said is the same in both." : `Of ${lines.a} lines in A and ${lines.b} in B, ${lines.same} are the same; the first other one is on ${momentOf(longer, lines.parted)}.`;
  const forked = apart.forked === null || apart.forked === apart.parted ? null : `One was forked at ${momentOf(longer, apart.forked)}.`;
  const alone = [["A", apart.only.a], ["B", apart.only.b]].filter(([, who]) => who.length).map(([run, who]) => `Only in ${run}: ${who.join(", ")}.`);
  return h("p", { class: "soft small" }, [part, talk, forked, ...alone, `Counted are the first ${number((apart.ticks * longer.tick_minutes) / 60)} hours, which both runs have, while a person is there in both.`].filter(Boolean).join(" "));
}

function reading(kinds) {
  return h("div", { class: "reading" }, kindsLegend(kinds), h("ul", { class: "legend", "aria-label": "How to read the rows" },
    h("li", {}, h("span", { class: "chip arm-a" }), "feeling in A, solid"), h("li", {}, h("span", { class: "chip arm-b" }), "feeling in B, dashed; above its middle pleasant, below unpleasant, 10 at most"),
    h("li", {}, h("span", { class: "chip differs-kind" }), "between the bands: another kind of activity"), h("li", {}, h("span", { class: "chip differs-words" }), "thin: the same kind in other words")));
}

/** One who lives in both: pictures, numbers, and the moment. {box, kinds, at(tick)}. */
function person(apart, a, b) {
  const who = apart.name;
  const all = days({ ...a, ticks: Math.min(a.ticks, b.ticks) });
  const moment = h("div", { class: "moment-pair" });
  const place = h("div", {});
  let strips = null;
  let from = -1;
  const pages = (tick) => Math.floor(Math.max(0, all.findLastIndex((one) => one.from <= tick)) / DAYS) * DAYS;
  const draw = (tick) => {
    if (pages(tick) !== from) {
      from = pages(tick);
      strips = apartDays(a, b, who, all.slice(from, from + DAYS), `${who} in both runs, day by day: ${percent(apart.kind_differs)} of the time another kind of activity. The numbers below say how much.`);
      fill(place, all.length > DAYS ? h("p", { class: "soft small" }, `days ${from + 1} to ${Math.min(all.length, from + DAYS)} of ${all.length}; move the time to see others`) : null, strips.box);
    }
    strips.at(tick, who);
  };
  draw(Number(state().tick) || 0);
  return {
    kinds: strips.kinds,
    box: h("section", { class: "card person-pair", "aria-label": who }, h("h3", {}, said(who)), h("p", { class: "small" }, summed(apart)), place,
      apart.together ? h("div", { class: "numbers" }, h("div", {}, h("h4", {}, `Hours of each kind, of ${((apart.together * a.tick_minutes) / 60).toFixed(1)} at which ${who} is there in both`), h("p", { class: "soft small" }, "● A  ○ B"), hoursChart(who, apart.hours)), numbers(apart)) : null, moment),
    async at(tick) {
      draw(tick);
      const [one, two] = await Promise.all([nameA, nameB].map((name) => get(name, path("person", who))));
      fill(moment, pair(one, two, [a, b].map((run) => stateAt(run, who, Math.min(tick, run.ticks - 1))), tick));
    },
  };
}

const percent = (share) => (share === null ? "none" : `${Math.round(100 * share)} %`);
const signedText = (value, digits = 2) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(digits)}`;

/** How much differs, in a sentence. */
function summed({ name, together, parted, kind_differs, feeling }) {
  if (!together) return `${name} is never there in both at once.`;
  if (parted === null) return `${name} does and feels the same in both.`;
  return `Does something else ${percent(kind_differs)} of the time; the mean feeling is ${signedText(feeling.a)} in A and ${signedText(feeling.b)} in B (−10 to +10).`;
}

function numbers({ name: who, hours, feeling, words_differ, talks, scores }) {
  const row = (name, one, two, digits = 2, words = (value) => value.toFixed(digits)) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, words(one)), h("td", {}, words(two)), h("td", {}, signedText(two - one, digits)));
  return h("details", { open: true }, h("summary", {}, "In numbers"), h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `${who} in numbers` }, h("table", { class: "counts" }, h("thead", {}, h("tr", {}, ["", "A", "B", "B − A"].map((name) => h("th", { scope: "col" }, name || h("span", { class: "hidden" }, "what"))))),
    h("tbody", {}, scores.map((one) => row(`${one.instrument.replaceAll("_", " ")}${one.score === "total" ? "" : `, ${one.score.replaceAll("_", " ")}`}, last (${RESPONDENTS[one.respondent]}${one.trial ? "; trial" : ""})`, one.a, one.b)), row("feeling, mean", feeling.a, feeling.b, 2, signedText), h("tr", {}, h("th", { scope: "row" }, "feeling, mean distance at a moment"), h("td"), h("td"), h("td", {}, feeling.apart.toFixed(2))), h("tr", {}, h("th", { scope: "row" }, "same kind of activity in other words"), h("td"), h("td"), h("td", {}, percent(words_differ))), row("talks", talks[0].talks, talks[1].talks, 0), row("lines in talks", talks[0].lines, talks[1].lines, 0),
      Object.entries(hours).map(([kind, [one, two]]) => row(`${kind}, hours`, one, two))))));
}

/** The moment in both: what is done and felt, the persona, closeness, the plan. */
function pair(one, two, [x, y], tick) {
  const version = (person) => at(person.versions, tick, (item) => item.tick);
  const [v, w] = [version(one), version(two)];
  return [
    h("div", { class: `sides${x.doing === y.doing && x.emotion === y.emotion ? "" : " different"}` }, now(x), now(y)),
    v && w ? h("details", {}, h("summary", {}, v.characteristic === w.characteristic && v.recent_feeling === w.recent_feeling ? "Persona: the same text" : "Persona: the texts differ (marked in B)"),
      h("div", { class: "sides" }, h("div", { class: "prose" }, v.characteristic, h("p", {}, v.recent_feeling)), h("div", { class: "prose" }, marked(v.characteristic, w.characteristic), h("p", {}, marked(v.recent_feeling, w.recent_feeling))))) : null,
    h("div", { class: "sides" }, relations(one, tick), relations(two, tick)), h("div", { class: "sides" }, plan(one, two, tick), plan(two, one, tick)),
  ];
}

const facts = (run) => h("p", { class: "soft small" }, [run.condition, `seed ${run.seed}`, run.label ? "written by hand" : run.model, run.parent ? `forked: ${run.parent.changes.map(([key, value]) => `${key} = ${value.replaceAll(/["\\]/g, "")}`).join(", ")}` : null].filter(Boolean).join(" · "));

const now = (one) => h("div", {}, one.here ? [badge(one.emotion, one.intensity, true), " ", said(one.doing || ""), h("span", { class: "soft small" }, " in ", said(one.place || ""))] : h("span", { class: "soft" }, "not here"));

function relations(person, tick) {
  const scores = Object.entries(Object.fromEntries(until(person.relations, tick).map((one) => [one.other, one.after])));
  return h("div", { class: "small" }, h("span", { class: "soft" }, "closeness: "), scores.map(([other, score]) => `${other} ${score}`).join(", ") || "none yet");
}

function plan(person, other, tick) {
  const [mine, theirs] = [person, other].map((one) => at(one.plans, tick, (item) => item.tick));
  if (!mine) return h("div", {});
  const there = new Set(theirs ? theirs.strokes.map((s) => s.do) : []);
  return h("details", { class: "small" }, h("summary", {}, "plan of the day"), h("ul", { class: "plainlist plan" }, mine.strokes.map((s) => h("li", {}, h("b", {}, s.at), " ", there.has(s.do) ? said(s.do) : h("ins", {}, said(s.do))))));
}
