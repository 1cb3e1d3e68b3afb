// Outcomes: every scale that was measured, over simulated time; a point opens what it rests on.

import { svg, chart, Plot, pressable } from "./chart.js";
import { fill, h, said, visible } from "./dom.js";
import { evidence } from "./evidence.js";
import { keyOf, number, pointName, scoreName, RESPONDENTS } from "./scores.js";
import { get } from "./source.js";
import { show, state } from "./state.js";
import { timeAxis } from "./timeaxis.js";

const HEIGHT = 170;
const [LEFT, RIGHT] = [40, 30];
const BESIDE = 0.015; // how far before its moment a retest is drawn, of the whole time
const FOOT = 0.07; // how high the strokes of the conversations are, of the whole
const SYMBOL = { self: "circle", human: "star", observer: "square", talk: "triangle" };
const SIGN = { self: "●", human: "★", observer: "■", talk: "▲" };
const DIRECTION = { lower_is_better: "Lower is better.", higher_is_better: "Higher is better." };

/** Build the panel into `section`. */
export function mountOutcomes(section, run, overview) {
  let drawn = null;
  const below = h("div", { class: "evidence", tabindex: "-1" });

  async function update(tick, who) {
    const found = await get(run, "outcomes");
    const measured = [...new Set(found.points.map((one) => one.who))];
    const named = found.points.find((one) => keyOf(one) === state().point);
    const about = named ? named.who : measured.includes(who) ? who : measured[0];
    if (!about) return fill(section, nothing());
    const chosen = named || (state().point ? null : found.points.find((one) => one.who === about));
    const key = JSON.stringify([about, state().score || "", overview.size]);
    if (drawn?.key !== key || drawn.found !== found) {
      drawn = { key, found };
      fill(section, h("h2", {}, "Outcomes: ", said(about)), about === who ? null : h("p", { class: "soft small" }, said(who), ` was not measured; these are the scores of `, said(about), "."),
        protocol(run), doubts(found.points), legend(found.points), h("p", { class: "soft small" }, "Press a point to see the answers, and what happened before it."), charts(found, about));
    }
    for (const mark of section.querySelectorAll("[data-key]")) mark.classList.toggle("chosen", Boolean(chosen) && mark.dataset.key === keyOf(chosen));
    return open(found, chosen, Boolean(named));
  }

  /** What the chosen point rests on. */
  async function open(found, chosen, asked) {
    const wanted = chosen ? keyOf(chosen) : "";
    if (below.dataset.shows === wanted && below.isConnected && (below.firstChild || !chosen)) return;
    const fresh = below.dataset.shows !== wanted;
    if (chosen) section.querySelector(`[data-instrument="${CSS.escape(chosen.instrument)}"]`).append(below);
    below.dataset.shows = wanted;
    fill(below, chosen ? await evidence(run, overview, found, chosen) : null);
    if (asked && fresh) below.focus();
  }

  function nothing() {
    return [h("h2", {}, "Outcomes"), protocol(run), h("p", {}, "No scale was measured in this run."),
      h("p", { class: "soft" }, "Measure it now: ", h("code", {}, `simcounsel rate RUN --instrument session_alliance_observed`), " (an observer), or ", h("code", {}, "--instrument insomnia_severity"), " (the client answers); RUN is this run's folder. What is measured shows here without a reload. In a world's file ", h("code", {}, "measurements:"), " measures during the run.")];
  }

  /** What is said of clinicians where models judged. */
  function judged(points) {
    const all = [...new Set(points.map((one) => one.clinicians).filter(Boolean))];
    return all.length ? ` ${all.join(" ")}` : null;
  }

  function charts(found, who) {
    const mine = found.points.filter((one) => one.who === who);
    return [...new Set(mine.map((one) => one.instrument))].map((instrument) => {
      const points = mine.filter((one) => one.instrument === instrument);
      const scale = found.scales[instrument];
      const names = [...new Set(points.flatMap((one) => one.scores.map((score) => score.name)))];
      const rest = names.slice(1);
      const more = h("div", { class: "small-multiples" });
      const details = h("details", { ontoggle: () => { if (details.open && !more.firstChild) fill(more, rest.map((name) => picture(scale, instrument, name, points))); } }, h("summary", {}, `${rest.length} more ${rest.length === 1 ? "score" : "scores"} of it`), more);
      return h("section", { class: "card", "aria-label": scale.name, "data-instrument": instrument }, h("h3", {}, said(scale.name)),
        h("p", { class: "soft small" }, scale.measures ? said(sentence(scale.measures)) : null, " ", DIRECTION[scale.scores?.[names[0]]?.direction] || "", scale.note ? [" ", said(scale.note)] : null, judged(points)),
        picture(scale, instrument, names[0], points), rest.length ? details : null);
    });
  }

  /** One score over time. */
  function picture(scale, instrument, name, points) {
    const about = scale.scores?.[name] || {};
    const all = points.map((point) => ({ point, score: point.scores.find((one) => one.name === name) })).filter(({ score }) => score);
    const valued = all.filter(({ score }) => score.value !== null).map(({ point, score }) => ({ point, value: score.value, minute: point.minute - (point.round - 1) * BESIDE * overview.ticks * overview.tick_minutes, band: score.band, flags: score.flags }));
    const without = all.length - valued.length;
    const title = scoreName(scale, name);
    const words = (one) => `${title}, ${pointName(overview, one.point)}: ${number(one.value)}${one.band ? `, ${one.band}` : ""}${one.flags.length ? `; ${one.flags.join(", ")}` : ""}; ${RESPONDENTS[one.point.respondent]}${one.point.round > 1 ? `, retest ${one.point.round - 1}` : ""}`;
    const drawnChart = valued.length ? chart((width) => draw(width, about, title, valued, words)) : null;
    return h("figure", { class: "score-chart" }, h("figcaption", { class: "small" }, h("b", {}, said(title))), drawnChart,
      without ? h("p", { class: "soft small" }, `${without} of ${all.length} ${without === 1 ? "has" : "have"} no value: `, all.filter(({ score }) => score.value === null).slice(0, 3).map(({ point, score }) => h("button", { type: "button", class: "plain", onclick: () => press(point) }, `${pointName(overview, point)}: ${score.reason || "none"}`))) : null);
  }

  function draw(width, about, title, valued, words) {
    const values = valued.map((one) => one.value);
    const domain = about.bounds || [Math.min(0, ...values), Math.max(...values, Math.min(0, ...values) + 1)];
    const [from, to] = [overview.first_minute, overview.first_minute + overview.ticks * overview.tick_minutes];
    const tests = valued.filter((one) => one.point.round === 1);
    const bands = (about.bands || []).toSorted((one, two) => one.at_least - two.at_least);
    const zones = bands.map((band, index) => ({ ...band, at_least: Math.max(domain[0], band.at_least), below: Math.min(domain[1], bands[index + 1]?.at_least ?? domain[1]) })).filter((zone) => zone.below > zone.at_least);
    const talks = overview.talks.filter((talk) => talk.who.includes(valued[0].point.who));
    const drawn = svg({
      width, height: HEIGHT, marginLeft: LEFT, marginRight: RIGHT, marginTop: 12, marginBottom: 30, ariaLabel: visible(`${title}: ${valued.map(words).join("; ")}`),
      x: timeAxis(overview, from, to, width - LEFT - RIGHT), y: { domain, grid: true, label: null, ticks: 4, tickSize: 0 },
      marks: [
        Plot.rect(zones.filter((_, index) => index % 2), { x1: from, x2: to, y1: "at_least", y2: "below", fill: "var(--wash)" }),
        Plot.text(zones, { x: (from + to) / 2, y: (zone) => (zone.at_least + zone.below) / 2, text: (zone) => visible(zone.name), fill: "var(--soft)", fontSize: 10 }),
        Plot.ruleX(talks, { x: (talk) => minute(talk.tick), y1: domain[0], y2: domain[0] + FOOT * (domain[1] - domain[0]), stroke: "var(--soft)", strokeWidth: 2 }),
        Plot.line(tests, { x: "minute", y: "value", z: (one) => one.point.respondent, stroke: "var(--accent)", strokeWidth: 1.4 }),
        Plot.dot(valued, { x: "minute", y: "value", r: 6, symbol: (one) => SYMBOL[one.point.respondent], fill: (one) => (one.point.round > 1 ? "var(--sheet)" : "var(--accent)"), stroke: (one) => (one.flags.length ? "var(--warn)" : "var(--accent)"), strokeWidth: 1.8, className: "measured" }),
        Plot.text(tests, { x: "minute", y: "value", text: (one) => number(one.value), dy: -13, fill: "var(--ink)" }),
      ],
    });
    pressable(drawn, ".measured > *", (index) => words(valued[index]), (index) => press(valued[index].point));
    for (const mark of drawn.querySelectorAll(".measured > *")) mark.dataset.key = keyOf(valued[mark.__data__].point);
    return drawn;
  }

  const minute = (tick) => overview.first_minute + tick * overview.tick_minutes;
  const press = (point) => show({ point: keyOf(point), tick: point.tick, who: overview.tracks[point.who] ? point.who : undefined });

  return { update };
}

/** How many lines of counselors the safety protocol decided. */
function protocol(run) {
  const place = h("div");
  get(run, "safety").then(({ moves, lines, files }) => {
    if (lines) fill(place, h("p", { class: moves ? "warn small" : "soft small" }, `The safety protocol decided ${moves} of ${lines} lines of counselors.`, files ? [" ", said(sentence(files))] : null));
  }, () => {});
  return place;
}

/** What must be said before any number is believed. */
function doubts(points) {
  const trial = points.filter((one) => one.trial).length;
  const damaged = points.some((one) => one.damaged);
  return [
    trial ? h("p", { class: "warn small" }, `${trial === points.length ? "These" : `${trial} of these`} answers come from a model that is there for trying the software only; they are no measurement.`) : null,
    damaged ? h("p", { class: "warn small" }, "The run is damaged: scores count what could be read of it.") : null,
  ];
}

function legend(points) {
  const kinds = ["self", "human", "observer", "talk"].filter((kind) => points.some((one) => one.respondent === kind));
  return h("ul", { class: "legend", "aria-label": "Who answered" }, kinds.map((kind) => h("li", {}, `${SIGN[kind]} ${RESPONDENTS[kind]}`)),
    points.some((one) => one.round > 1) ? h("li", {}, "hollow: a retest of the same moment") : null, h("li", {}, "short strokes at the foot: conversations"));
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;
