// Two runs on one clock: where what people do and feel differs, and what became of their personas and relationships.

import { fill, h, said } from "./dom.js";
import { badge } from "./feel.js";
import { mountPlayer } from "./player.js";
import { get, path } from "./source.js";
import { onShow, show, state } from "./state.js";
import { at, stateAt, until } from "./track.js";
import { momentOf } from "./clock.js";
import { marked } from "./words.js";

const [WIDTH, LEFT, ROW] = [960, 90, 22];
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
  const pairs = h("div", {});
  const talks = new Map();
  const both = { ...longer, moments: [...a.moments, ...b.moments], talks: [] };
  const title = (run) => h("a", { href: `/run/${encodeURIComponent(run.run)}#tick=${state().tick || 0}` }, run.run);
  fill(document.getElementById("head"), h("h1", {}, "Compare"), h("a", { href: "/" }, "runs"));
  const said = apart.parted === null ? "In what people do and feel the two runs are the same." : `They part at ${momentOf(longer, apart.parted)} (tick ${apart.parted}).`;
  fill(main, h("div", { class: "two" }, h("div", { class: "sides" }, h("div", {}, h("h2", {}, "A: ", title(a)), facts(a)), h("div", {}, h("h2", {}, "B: ", title(b)), facts(b))),
    h("p", {}, said, apart.forked !== null ? ` One was forked at tick ${apart.forked}; the red line marks it.` : "", apart.only.a.length || apart.only.b.length ? ` Only in A: ${apart.only.a.join(", ") || "nobody"}; only in B: ${apart.only.b.join(", ") || "nobody"}.` : ""),
    Object.keys(apart.differ).length ? strips(longer, apart) : h("p", { class: "warn" }, "Nobody lives in both runs; choose two runs of the same client."), pairs), bar);
  if (state().tick === undefined) show({ tick: apart.parted ?? 0 }, true);
  const player = mountPlayer(bar, both, { waits: () => 0, onLine: () => {} });
  const draw = async () => {
    player.update();
    const people = Object.keys(apart.differ);
    const histories = await Promise.all(people.map(async (who) => [await get(nameA, path("person", who)), await get(nameB, path("person", who))]));
    fill(pairs, people.map((who, index) => pair(who, histories[index], player.tick())));
  };
  onShow(() => draw());
  await draw();
  return talks;

  function pair(who, [one, two], tick) {
    const [x, y] = [stateAt(a, who, Math.min(tick, a.ticks - 1)), stateAt(b, who, Math.min(tick, b.ticks - 1))];
    const version = (person) => at(person.versions, tick, (item) => item.tick);
    const [v, w] = [version(one), version(two)];
    return h("section", { class: "card person-pair" }, h("h3", {}, who),
      h("div", { class: `sides${x.doing === y.doing && x.emotion === y.emotion ? "" : " different"}` }, now(x), now(y)),
      v && w ? h("details", { open: v.characteristic !== w.characteristic || v.recent_feeling !== w.recent_feeling }, h("summary", {}, v.characteristic === w.characteristic && v.recent_feeling === w.recent_feeling ? "Persona: the same text" : "Persona: the texts differ (marked in B)"),
        h("div", { class: "sides" }, h("div", { class: "prose" }, v.characteristic, h("p", {}, v.recent_feeling)), h("div", { class: "prose" }, marked(v.characteristic, w.characteristic), h("p", {}, marked(v.recent_feeling, w.recent_feeling))))) : null,
      h("div", { class: "sides" }, relations(one, tick), relations(two, tick)), h("div", { class: "sides" }, plan(one, two, tick), plan(two, one, tick)));
  }
}

const facts = (run) => h("p", { class: "soft small" }, [run.condition, `seed ${run.seed}`, run.model, `${run.ticks} ticks`, run.parent ? `forked at tick ${run.parent.at_tick}: ${run.parent.changes.map(([key, value]) => `${key} = ${value}`).join(", ")}` : null].filter(Boolean).join(" · "));

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

function strips(overview, apart) {
  const people = Object.keys(apart.differ);
  const height = people.length * ROW + 18;
  const x = (tick) => LEFT + ((WIDTH - LEFT) * tick) / Math.max(1, apart.ticks);
  const svg = h("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": people.map((who) => `${who}: ${apart.differ[who].doing.length} of ${apart.ticks} ticks differ in activity, ${apart.differ[who].feeling.length} in feeling`).join("; ") });
  people.forEach((who, index) => {
    const y = 4 + index * ROW;
    svg.append(h("text", { class: "lane-name", x: 0, y: y + 13 }, who), h("rect", { class: "same", x: LEFT, width: WIDTH - LEFT, y, height: ROW - 5 }));
    for (const [what, top] of [["doing", 0], ["feeling", 9]]) for (const tick of apart.differ[who][what]) svg.append(h("rect", { class: "differs", x: x(tick), width: Math.max(0.6, x(tick + 1) - x(tick)), y: y + top, height: 8, onclick: () => show({ tick }) }));
  });
  if (apart.forked !== null) svg.append(h("line", { class: "parts", x1: x(apart.forked), x2: x(apart.forked), y1: 0, y2: height - 14 }));
  svg.append(h("text", { class: "hour-name", x: LEFT, y: height - 3 }, momentOf(overview, 0)), h("text", { class: "hour-name", x: WIDTH, y: height - 3, "text-anchor": "end" }, momentOf(overview, Math.max(0, apart.ticks - 1))));
  return h("figure", { class: "strips" }, h("figcaption", { class: "small soft" }, "Where they differ: in each row above what is done, below what is felt; click to go there."), svg);
}
