// One person at a moment: the persona's version and what changed in it, relationships, feelings over time, the plan.

import { dayOf, minuteOf, momentOf, timeOf } from "./clock.js";
import { fill, h, said } from "./dom.js";
import { badge } from "./feel.js";
import { feelingsChart } from "./feelings.js";
import { get, path } from "./source.js";
import { show } from "./state.js";
import { at, lastAt, stateAt, until } from "./track.js";
import { marked } from "./words.js";

const TICK = (item) => item.tick;
const PARTS = [["characteristic", "Characteristic"], ["recent_feeling", "Recent feeling"], ["background", "Background"]];

/** Build the panel into `section`. */
export function mountPerson(section, run, overview) {
  let asked = 0;

  async function update(tick, who) {
    asked += 1;
    const mine = asked;
    const person = await get(run, path("person", who));
    const memories = await get(run, path("memories", who));
    if (mine !== asked) return;
    fill(section, head(tick, who), persona(person, memories, tick), relations(person, tick), feelings(person, tick), plan(person, tick), sheet(person));
  }

  function head(tick, who) {
    const now = stateAt(overview, who, tick);
    const person = overview.people.find((one) => one.name === who);
    return h("div", { class: "who" }, h("h2", {}, said(who), h("span", { class: "soft" }, person ? `, ${person.role}` : "")),
      now.here ? h("p", {}, badge(now.emotion, now.intensity, true), " ", said(now.doing || "has not done anything yet"), h("span", { class: "soft" }, " in ", said(now.place)))
        : h("p", { class: "soft" }, "is not here at this moment"));
  }

  function persona(person, memories, tick) {
    const upto = until(person.versions, tick);
    const now = upto[upto.length - 1];
    if (!now) return h("p", { class: "soft" }, "No portrait yet.");
    const before = upto[upto.length - 2];
    const jump = (version) => h("button", { type: "button", class: "plain", onclick: () => show({ tick: version.tick }) }, version.version ? `rewritten ${momentOf(overview, version.tick)}` : "as the run began");
    return h("section", { class: "card" }, h("h3", {}, now.version ? `Portrait, rewritten ${momentOf(overview, now.tick)}` : "Portrait, as the run began", before ? h("span", { class: "soft" }, "; marked: what changed") : null),
      PARTS.map(([key, name]) => h("div", {}, h("h4", {}, name), h("p", { class: "prose" }, marked(before ? before[key] : null, now[key])))),
      now.evidence.length ? h("details", {}, h("summary", {}, `It rests on ${now.evidence.length} memories`), evidence(now.evidence, memories)) : null,
      person.versions.length > 1 ? h("details", {}, h("summary", {}, "All portraits"), h("ul", {}, person.versions.map((one) => h("li", {}, jump(one))))) : null);
  }

  function evidence(ids, memories) {
    const known = new Map(memories.map((one) => [one.id, one]));
    return h("ul", { class: "evidence" }, ids.map((id) => {
      const memory = known.get(id);
      return h("li", {}, memory ? said(memory.text) : id, memory ? h("span", { class: "soft small" }, ` ${timeOf(memory.minute)}, ${dayOf(overview, memory.minute)}`) : null);
    }));
  }

  function relations(person, tick) {
    const others = [...new Set(person.relations.map((one) => one.other))].sort();
    if (!others.length) return null;
    return h("section", { class: "card" }, h("h3", {}, "Relationships"), h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "To"), h("th", { scope: "col" }, "Closeness, 0 to 10"), h("th", { scope: "col" }, "How it moved"))),
      h("tbody", {}, others.map((other) => {
        const all = person.relations.filter((one) => one.other === other);
        const upto = until(all, tick);
        const now = upto[upto.length - 1];
        return h("tr", {}, h("td", {}, said(other)), h("td", {}, now ? h("span", { class: "row" }, h("meter", { min: 0, max: 10, value: now.after, "aria-label": `closeness to ${other}` }), String(now.after)) : "not yet"),
          h("td", { class: "soft small" }, upto.slice(-4).map((one) => `${one.before} → ${one.after}`).join(", ")));
      }))));
  }

  function feelings(person, tick) {
    const upto = until(person.feelings, tick).slice(-60);
    if (!upto.length) return null;
    const recent = upto.slice(-6).reverse();
    return h("section", { class: "card" }, h("h3", {}, `Feelings up to now`), h("p", { class: "soft small" }, "Each bar is one feeling, in order: upwards if pleasant, downwards if unpleasant, flat if neutral. Press one to go there."), feelingsChart(overview, upto),
      h("ul", { class: "plainlist" }, recent.map((one) => h("li", {}, badge(one.emotion, one.intensity, true), " ", said(one.about || ""), h("span", { class: "soft small" }, ` ${timeOf(one.minute)}`)))));
  }

  function plan(person, tick) {
    const now = at(person.plans, tick, TICK);
    if (!now) return null;
    const index = lastAt(person.plans, tick, TICK);
    const before = index > 0 && person.plans[index - 1].day === now.day ? person.plans[index - 1] : null;
    const was = new Set(before ? before.strokes.map((s) => `${s.at} ${s.do}`) : []);
    const is = new Set(now.strokes.map((s) => `${s.at} ${s.do}`));
    const gone = before ? before.strokes.filter((s) => !is.has(`${s.at} ${s.do}`)) : [];
    const items = [...now.strokes.map((s) => ({ ...s, kind: before && !was.has(`${s.at} ${s.do}`) ? "ins" : "span" })), ...gone.map((s) => ({ ...s, kind: "del" }))]
      .sort((a, b) => (a.at.padStart(5, "0") < b.at.padStart(5, "0") ? -1 : 1));
    return h("section", { class: "card" }, h("h3", {}, `Plan for ${dayOf(overview, minuteOf(overview, tick))}`),
      h("p", { class: "soft small" }, `made at ${timeOf(now.minute)}: `, said(now.why), before ? (gone.length || is.size !== was.size ? "; marked: what it changed" : "; the plan stayed as it was") : null),
      h("ul", { class: "plainlist plan" }, items.map((s) => h("li", {}, h("b", {}, s.at), " ", h(s.kind, {}, s.kind === "span" ? null : h("span", { class: "hidden" }, s.kind === "ins" ? "new: " : "dropped: "), said(s.do))))));
  }

  function sheet(person) {
    const shown = Object.entries(person.sheet).filter(([, value]) => typeof value !== "object" || value.length);
    if (!shown.length) return null;
    const words = (value) => Array.isArray(value) ? value.map((one) => (typeof one === "object" ? Object.values(one).join(", ") : String(one))).join("; ") : String(value);
    return h("details", { class: "card" }, h("summary", {}, "The persona file"), h("dl", {}, shown.map(([key, value]) => [h("dt", {}, key), h("dd", {}, said(words(value)))])));
  }

  return { update };
}
