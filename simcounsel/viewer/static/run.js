// The page of one run: the map, the panels, the time bar, and the moment that they all show.

import { momentOf } from "./clock.js";
import { dangerStrip } from "./danger.js";
import { mountDays } from "./days.js";
import { announce, fill, h, said } from "./dom.js";
import { badge } from "./feel.js";
import { mountHood } from "./hood.js";
import { mountInterview } from "./interview.js";
import { mountMap } from "./map.js";
import { mountMemory } from "./memory.js";
import { mountOutcomes } from "./outcomes.js";
import { mountPerson } from "./person.js";
import { mountPlayer } from "./player.js";
import { mountSearch } from "./search.js";
import { bundled, forget, get, path } from "./source.js";
import { onShow, show, state } from "./state.js";
import { sessionOf, story } from "./story.js";
import { mountTalks } from "./talks.js";
import { placeOfTour, tour } from "./tour.js";
import { stateAt } from "./track.js";

const POLL_MS = 2000;
const PANELS = [["days", "Days", mountDays], ["outcomes", "Outcomes", mountOutcomes], ["person", "Person", mountPerson], ["memory", "Memory", mountMemory], ["talks", "Conversations", mountTalks], ["hood", "Under the hood", mountHood], ["search", "Search", mountSearch], ["interview", "Interview", null]];

const run = bundled ? null : decodeURIComponent(location.pathname.split("/").pop());
const main = document.getElementById("main");

start().catch(fail);

function fail(error) {
  fill(main, h("p", { class: "page warn", role: "alert" }, error.message));
}

/** A run of which no tick is complete yet. */
function begins(overview) {
  fill(main, problems(overview), h("p", { class: "page" }, "Nothing has happened in this run yet."));
  if (!bundled) setInterval(async () => {
    const now = await fetch(`/api/runs/${encodeURIComponent(run)}/size`).then((reply) => reply.json(), () => null);
    if (now?.ticks) location.reload();
  }, POLL_MS);
}

async function start() {
  const overview = await get(run, "overview");
  document.title = `${overview.world || overview.run}: simcounsel`;
  const session = sessionOf(overview);
  const clients = overview.people.filter((one) => one.role === "client");
  const first = clients.find((one) => session?.who.includes(one.name)) || clients[0] || overview.people[0];
  if (!first) return overview.ticks ? fill(main, problems(overview), h("p", { class: "page" }, "Nobody is in what is left of this run.")) : begins(overview);
  const gone = stale(overview);
  if (placeOfTour() && state().tick === undefined) show(placeOfTour(), true);
  if (!overview.tracks[state().who]) show({ who: first.name }, true);
  if (state().tick === undefined) show(session && !state().panel && !state().rows ? { tick: session.tick, panel: "talks" } : { tick: 0 }, true);
  const head = document.getElementById("head");
  const people = h("nav", { class: "people-bar", "aria-label": "People" });
  const map = h("section", { class: "map-side", "aria-label": "Map" });
  const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Panels" });
  const panel = h("section", { id: "panel", class: "panel", role: "tabpanel", tabindex: "-1" });
  const bar = h("footer", { class: "time", "aria-label": "Time" });
  const guide = h("div", { class: "guide" });
  fill(main, problems(overview), gone, guide, h("div", { class: "stage" }, h("div", { class: "panel-side" }, people, tabs, panel), map), bar);
  const drawing = build();
  onShow(() => draw().catch(failPanel));
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    show({ panel: "search" });
    document.getElementById("search-words")?.focus();
  });
  await draw();
  if (!bundled) follow();
  return undefined;

  function build() {
    titled(head, overview);
    const player = mountPlayer(bar, overview, { waits: linesAt, onLine: (n) => draw(n) });
    fill(tabs, PANELS.filter(([key]) => key !== "interview" || !bundled).map(([key, name]) => h("button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": "panel", onclick: () => show({ panel: key }), onkeydown: arrows }, name)));
    return { map: mountMap(map, overview), player, panels: {}, draws: 0 };
  }

  function arrows(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const all = [...tabs.children];
    const to = all[(all.indexOf(event.target) + by + all.length) % all.length];
    to.focus();
    to.click();
    event.preventDefault();
  }

  /** How many lines are said at a tick. */
  function linesAt(tick) {
    return Math.max(0, ...overview.talks.filter((one) => one.tick === tick).map((one) => one.lines));
  }

  async function draw(line = null) {
    const [tick, who] = [drawing.player.tick(), overview.tracks[state().who] ? state().who : first.name];
    drawing.player.update();
    drawPeople(tick, who);
    const key = PANELS.some(([one]) => one === state().panel) ? state().panel : "days";
    map.hidden = key !== "days";
    if (!map.hidden) {
      drawing.map.update(tick, who);
      speaking(tick, line).then((lines) => tick === drawing.player.tick() && drawing.map.speak(lines), () => {});
    }
    about(who);
    if (guide.dataset.step !== (state().tour || "")) fill(guide, tour());
    guide.dataset.step = state().tour || "";
    for (const tab of tabs.children) {
      const mine = tab.id === `tab-${key}`;
      tab.setAttribute("aria-selected", String(mine));
      tab.tabIndex = mine ? 0 : -1;
      if (mine && drawing.open !== key) tabs.scrollLeft = Math.max(0, tab.offsetLeft + tab.offsetWidth - tabs.clientWidth);
    }
    panel.setAttribute("aria-labelledby", `tab-${key}`);
    if (drawing.open !== key) {
      drawing.body = h("div", { class: "open" }, h("p", { class: "soft" }, "…")); // a panel that answers late fills its own, which is gone
      fill(panel, drawing.body);
      drawing.panels = {};
      drawing.open = key;
    }
    const mine = (drawing.draws += 1);
    drawing.panels[key] ||= mount(key, tick, who);
    await drawing.panels[key].update(key === "interview" ? { who, tick } : tick, who);
    if (mine === drawing.draws) main.dataset.drawn = `${tick}:${key}`;
  }

  /** Who is chosen, in the head; open where there is room, and then as it was left. */
  async function about(who) {
    const key = `${who} ${overview.size}`;
    if (drawing.about === key) return;
    drawing.about = key;
    const place = head.querySelector(".story-place");
    const made = await story(run, overview, who, place.querySelector("details")?.open ?? matchMedia("(min-width: 861px)").matches).catch(() => null);
    if (drawing.about === key) fill(place, made);
  }

  function drawPeople(tick, who) {
    if (people.children.length !== overview.people.length) {
      fill(people, overview.people.map(({ name }) => h("button", { type: "button", onclick: () => show({ who: name }) }, h("span", {}), " ", said(name))));
    }
    overview.people.forEach(({ name }, index) => {
      const button = people.children[index];
      const now = stateAt(overview, name, tick);
      button.setAttribute("aria-pressed", String(name === who));
      button.classList.toggle("away", !now.here);
      const felt = `${now.emotion} ${now.intensity}`;
      if (button.dataset.felt !== felt) fill(button.firstChild, badge(now.emotion, now.intensity));
      button.dataset.felt = felt;
    });
  }

  function mount(key, tick, who) {
    if (key === "interview") return mountInterview(drawing.body, { run, who, tick, moment: (at) => momentOf(overview, at) });
    if (key === "days") return mountDays(drawing.body, overview);
    return PANELS.find(([one]) => one === key)[2](drawing.body, run, overview);
  }

  /** What is being said at a tick: the line that is played, or else the last of each. */
  async function speaking(tick, line) {
    const said = {};
    for (const talk of overview.talks.filter((one) => one.tick === tick).slice(0, 4)) {
      const { lines } = await get(run, path("conversation", talk.chat));
      for (const one of line === null ? lines.slice(-2) : lines.slice(Math.max(0, line - 1), line + 1)) said[one.who] = one.text;
    }
    return said;
  }

  function failPanel(error) {
    fill(panel, h("p", { class: "warn", role: "alert" }, error.message));
    drawing.panels = {};
    drawing.open = null;
  }

  /** Watch a run that is still being written. */
  async function follow() {
    for (;;) {
      await new Promise((done) => setTimeout(done, POLL_MS));
      try {
        const now = await (await fetch(`/api/runs/${encodeURIComponent(run)}/size`)).json();
        if (now.size === overview.size) continue;
        const atEnd = drawing.player.tick() >= overview.ticks - 1;
        forget();
        Object.assign(overview, await get(run, "overview")); // all panels hold this object: what is open stays open
        drawing.player.grow(overview);
        titled(head, overview);
        drawing.about = null;
        if (atEnd) {
          show({ tick: Math.max(0, overview.ticks - 1) }, true);
          announce(`the run goes on: ${momentOf(overview, overview.ticks - 1)}`);
        }
        await draw();
      } catch {
        // the site may be gone for a moment; the next round tries again
      }
    }
  }
}

/** What an address names that this run does not have is left out of it; a note that says so, null when all is there. */
function stale(overview) {
  const { chat, tick, who } = state();
  const gone = [
    who !== undefined && !overview.tracks[who] ? [`a person “${who}”`, { who: null }] : null,
    chat !== undefined && !overview.talks.some((one) => one.chat === chat) ? ["a conversation", { chat: null }] : null,
    tick !== undefined && !(Number(tick) >= 0 && Number(tick) < overview.ticks) ? ["a moment", { tick: null }] : null,
  ].filter(Boolean);
  for (const [, without] of gone) show(without, true);
  return gone.length ? h("p", { class: "warn", role: "status" }, `This address names ${gone.map(([what]) => what).join(" and ")} that this run does not have; the run is shown without.`) : null;
}

function titled(head, overview) {
  const hours = (ticks) => Math.round((ticks * overview.tick_minutes) / 6) / 10;
  const byHand = Boolean(overview.label);
  const facts = [overview.condition, overview.seed !== undefined && overview.seed !== null ? `seed ${overview.seed}` : null, byHand ? null : overview.model, overview.ticks < overview.ticks_planned ? `${hours(overview.ticks)} of ${hours(overview.ticks_planned)} hours` : null];
  fill(head, dangerStrip(overview), h("div", { class: "title" }, bundled ? null : h("a", { href: "/", class: "home" }, "runs"), h("h1", {}, said(overview.world || overview.run)),
    h("span", { class: "soft small facts" }, facts.filter(Boolean).join(" · "), overview.parent ? ` · forked from ${overview.parent.run} at ${momentOf(overview, overview.parent.at_tick)}` : "")),
  h("p", { class: "soft small care", title: overview.label || null }, `Simulated${byHand ? ", written by hand" : " people"}. Not care; no evidence about people.`),
  h("div", { class: "story-place" }));
}

function problems(overview) {
  return overview.problems.length ? h("div", { class: "warn problems", role: "status" }, overview.problems.map((one) => h("div", {}, one))) : null;
}
