// Time: play, pause, speed, a scrubber with days and nights, jumps between moments, and the keys for all that.

import { days, isNight, minuteOf, momentOf } from "./clock.js";
import { announce, fill, h } from "./dom.js";
import { show, state } from "./state.js";

const SPEEDS = [1, 2, 4, 8, 16];
const TICK_MS = 1600;
export const KINDS = { conversation: "talk", reflection: "reflection", persona: "new portrait", replanned: "new plan", warning: "warning", fork: "fork" };
const JUMPS = ["conversation", "reflection", "persona"];

/** Build the time bar into `bar`. `waits(tick)` says how many lines are to be read at a tick before time goes on; `onLine(n)` shows one. */
export function mountPlayer(bar, overview, { waits, onLine }) {
  let world = overview;
  let timer = null;
  let line = 0;
  let speed = 2;
  const play = h("button", { class: "main play", type: "button", onclick: () => toggle() }, "Play");
  const speeds = h("select", { "aria-label": "Speed", onchange: (event) => { speed = Number(event.target.value); } },
    SPEEDS.map((one) => h("option", { value: one, selected: one === speed }, `${one}×`)));
  const range = h("input", { type: "range", min: 0, class: "scrub", "aria-label": "Moment", oninput: () => seek(Number(range.value)) });
  const strip = h("div", { class: "strip", "aria-hidden": "true" });
  const when = h("output", { class: "when" });
  fill(bar,
    h("div", { class: "row controls" }, play,
      h("button", { type: "button", class: "step", title: "Key: ←", onclick: () => step(-1) }, `−${world.tick_minutes} min`),
      h("button", { type: "button", class: "step", title: "Key: →", onclick: () => step(1) }, `+${world.tick_minutes} min`),
      h("button", { type: "button", title: "The talk, reflection or new portrait before this. Key: [", "aria-label": "Previous event", onclick: () => jump(-1) }, "‹ event"),
      h("button", { type: "button", title: "The next talk, reflection or new portrait. Key: ]", "aria-label": "Next event", onclick: () => jump(1) }, "event ›"),
      speeds, when),
    h("div", { class: "scrubber" }, strip, range));
  drawStrip();

  const last = () => Math.max(0, world.ticks - 1);
  const tick = () => Math.min(last(), Math.max(0, Number(state().tick) || 0));

  function seek(to) {
    line = 0;
    show({ tick: Math.min(last(), Math.max(0, to)) }, true);
  }

  function step(by) {
    pause();
    seek(tick() + by);
    announce(momentOf(world, tick()));
  }

  function jump(by) {
    pause();
    const ticks = [...new Set(world.moments.filter((m) => JUMPS.includes(m.kind)).map((m) => m.tick))].sort((a, b) => a - b);
    const to = by > 0 ? ticks.find((t) => t > tick()) : ticks.findLast((t) => t < tick());
    if (to === undefined) return announce(by > 0 ? "nothing after this" : "nothing before this");
    const there = world.moments.filter((m) => m.tick === to && JUMPS.includes(m.kind));
    show({ tick: to, chat: null, recall: null });
    return announce(`${momentOf(world, to)}: ${there.map((m) => `${KINDS[m.kind]} ${m.who.join(" and ")}`).join(", ")}`);
  }

  function toggle() {
    if (timer) return pause();
    if (tick() >= last()) seek(0);
    if (state().panel === "talks") show({ panel: "days" }); // where time can be seen to pass
    play.textContent = "Pause";
    return next();
  }

  function pause() {
    clearTimeout(timer);
    timer = null;
    play.textContent = "Play";
  }

  function next() {
    const lines = waits(tick());
    if (line < lines) {
      onLine(line);
      line += 1;
    } else if (tick() >= last()) return pause();
    else seek(tick() + 1);
    timer = setTimeout(next, (line ? 2 * TICK_MS : TICK_MS) / speed);
    return undefined;
  }

  addEventListener("keydown", (event) => {
    if (event.target.closest("input:not([type=range]), textarea, select, [role=tablist]") || event.altKey || event.ctrlKey || event.metaKey) return;
    const hour = Math.max(1, Math.round(60 / world.tick_minutes));
    const acts = {
      ArrowRight: () => step(event.shiftKey ? hour : 1), ArrowLeft: () => step(event.shiftKey ? -hour : -1),
      "]": () => jump(1), "[": () => jump(-1), Home: () => step(-last()), End: () => step(last()),
    };
    if (event.key === " " && !event.target.closest("button, a, summary, [role=button], input")) acts[" "] = toggle;
    if (acts[event.key]) {
      event.preventDefault();
      acts[event.key]();
    }
  });

  function drawStrip() {
    const total = Math.max(1, world.ticks);
    const share = (from, to) => ({ left: `${(100 * from) / total}%`, width: `${(100 * (to - from)) / total}%` });
    const place = (el, box) => Object.assign(el.style, box) && el;
    const nights = [];
    for (let t = 0; t < world.ticks; t += 1) {
      if (!isNight(minuteOf(world, t))) continue;
      const from = t;
      while (t < world.ticks && isNight(minuteOf(world, t))) t += 1;
      nights.push(place(h("i", { class: "night" }), share(from, t)));
    }
    const narrow = days(world).length > 12;
    const names = days(world).map((day) => place(h("b", { class: "day" }, narrow ? String(day.number + 1) : day.name), share(day.from, day.to)));
    const marks = new Map();
    for (const moment of world.moments) marks.set(`${moment.tick} ${moment.kind}`, moment);
    const dots = [...marks.values()].map((m) => place(h("i", { class: `mark mark-${m.kind}` }), { left: `${(100 * (m.tick + 0.5)) / total}%` }));
    fill(strip, nights, names, dots);
    range.max = String(Math.max(0, world.ticks - 1));
  }

  return {
    /** Show the moment of the address. */
    update() {
      const now = tick();
      range.value = String(now);
      range.setAttribute("aria-valuetext", momentOf(world, now));
      fill(when, h("strong", { title: `tick ${now} of ${world.ticks}` }, momentOf(world, now)));
    },
    /** The run has grown. */
    grow(grown) {
      world = grown;
      drawStrip();
    },
    pause,
    tick,
  };
}
