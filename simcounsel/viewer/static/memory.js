// What somebody remembers at a moment, what came to mind and why, and what reflections made of it.

import { dayOf, minuteOf, momentOf, timeOf } from "./clock.js";
import { fill, h, said } from "./dom.js";
import { badge } from "./feel.js";
import { get, path } from "./source.js";
import { show, state } from "./state.js";
import { lastAt, until } from "./track.js";

export const TERMS = [["recency", "recency"], ["poignancy", "poignancy"], ["emotion_score", "emotion score"], ["emotion_relevance", "emotion relevance"], ["relevance", "relevance"]];
const TICK = (item) => item.tick;
const FIRST = 40;
const PURPOSE = { speak: "before speaking", reflect: "in a reflection", plan_day: "while planning the day" };

/** The hits of a recall: each memory's score as a bar of its five weighted terms. */
export function hitList(hits, known, weights) {
  return h("ol", { class: "hits" }, [...hits].sort((a, b) => b.score - a.score).map((hit) => {
    const memory = known.get(hit.id);
    const parts = TERMS.map(([key, name]) => [key, name, weights[key] * hit[key], hit[key]]);
    const bar = h("span", { class: "terms", role: "img", "aria-label": parts.map(([, name, part, value]) => `${name} ${value.toFixed(2)}, adds ${part.toFixed(3)}`).join("; ") },
      parts.map(([key, name, part, value]) => {
        const piece = h("span", { class: `term term-${key}`, title: `${name}: ${value.toFixed(2)} × ${weights[key].toFixed(2)} = ${part.toFixed(3)}` });
        piece.style.width = `${(100 * part).toFixed(2)}%`;
        return piece;
      }));
    return h("li", {}, h("div", { class: "hit-head" }, h("b", { class: "score" }, hit.score.toFixed(2)), bar), h("div", {}, memory ? said(memory.text) : h("span", { class: "soft" }, hit.id)));
  }));
}

/** What would have come by its score, but came to mind before a line just before. */
export function stoodBack(ids, known) {
  if (!ids?.length) return null;
  return h("div", { class: "small" }, h("p", { class: "soft" }, "Stood back, since it came to mind just before:"), h("ul", {}, ids.map((id) => h("li", {}, known.has(id) ? said(known.get(id).text) : id))));
}

/** What the colors of the bars mean. */
export function termLegend(weights) {
  return h("ul", { class: "legend", "aria-label": "The five terms and their weights" }, TERMS.map(([key, name]) => h("li", {}, h("span", { class: `chip term-${key}` }), `${name} (weight ${weights[key].toFixed(2)})`)));
}

/** Build the panel into `section`. */
export function mountMemory(section, run, overview) {
  let asked = 0;

  async function update(tick, who) {
    asked += 1;
    const mine = asked;
    const [memories, recalls, person] = await Promise.all([get(run, path("memories", who)), get(run, path("recalls", who)), get(run, path("person", who))]);
    if (mine !== asked) return;
    const known = new Map(memories.map((one) => [one.id, one]));
    const here = until(memories, tick);
    fill(section, h("h2", {}, said(who), h("span", { class: "soft" }, "'s memory")), recalled(recalls, known, tick), reflections(person, known, tick), beliefs(person, known, tick),
      store("Long-term memory", here.filter((one) => one.store === "long"), "thoughts: what was concluded and taken away"),
      store("Short-term memory", here.filter((one) => one.store === "short"), "events, lines of talk, plans"));
  }

  function recalled(recalls, known, tick) {
    const upto = until(recalls, tick);
    if (!upto.length) return h("p", { class: "soft" }, "Nothing has been recalled yet. Something comes to mind before each line of a conversation, and in a reflection.");
    const wanted = upto.findIndex((one) => String(one.seq) === state().recall);
    const index = wanted >= 0 ? wanted : lastAt(upto, tick, TICK);
    const one = upto[index];
    const go = (to) => upto[to] && show({ recall: upto[to].seq, tick: upto[to].tick }, true);
    return h("section", { class: "card" }, h("h3", {}, "What came to mind, and why"),
      h("div", { class: "row" },
        h("button", { type: "button", "aria-label": "Earlier recall", disabled: index === 0, onclick: () => go(index - 1) }, "‹"),
        h("span", {}, `${index + 1} of ${upto.length}`),
        h("button", { type: "button", "aria-label": "Later recall", disabled: index === upto.length - 1, onclick: () => go(index + 1) }, "›"),
        h("span", { class: "soft small" }, `${momentOf(overview, one.tick)}, ${PURPOSE[one.purpose] || one.purpose}`)),
      h("p", {}, h("span", { class: "soft" }, "At "), said(`“${one.query}”`), h("span", { class: "soft" }, " while feeling "), badge(one.emotion, null, true)),
      one.hits.length ? [termLegend(overview.weights), hitList(one.hits, known, overview.weights), stoodBack(one.stood_back, known)] : h("p", { class: "soft" }, "Nothing came to mind."));
  }

  function reflections(person, known, tick) {
    const upto = until(person.reflections, tick).slice().reverse();
    if (!upto.length) return null;
    return h("section", { class: "card" }, h("h3", {}, "Reflections"), upto.map((one, index) => h("details", { open: index === 0 },
      h("summary", {}, `${momentOf(overview, one.tick)}: `, said(one.trigger)),
      h("p", { class: "soft small" }, "Asked: ", said(one.questions.join(" "))),
      h("ul", { class: "tree" }, one.insights.map((insight) => h("li", {}, h("b", {}, said(insight.text)), branch(insight.evidence, known, one.tick)))))));
  }

  /** How strongly a client holds its beliefs: each step with the memories that moved it. */
  function beliefs(person, known, tick) {
    const upto = until(person.beliefs || [], tick).slice().reverse();
    if (!upto.length) return null;
    return h("section", { class: "card" }, h("h3", {}, "Beliefs that moved"), h("ul", { class: "tree" }, upto.map((one) => h("li", {},
      h("b", {}, said(`“${one.text}”`)), `: ${one.before}\u00a0→\u00a0${one.after} of 100, `, h("span", { class: "soft small" }, `${momentOf(overview, one.tick)}; `), said(one.why), branch(one.evidence, known, one.tick)))));
  }

  /** What something rests on, and what that rests on; with the day where it is not the one of the tick. */
  function branch(ids, known, tick, depth = 0) {
    if (!ids.length || depth > 3) return null;
    return h("ul", {}, ids.map((id) => {
      const memory = known.get(id);
      return h("li", {}, memory ? said(memory.text) : id, memory ? h("span", { class: "soft small" }, ` ${when(memory, tick)}`) : null, memory ? branch(memory.evidence, known, tick, depth + 1) : null);
    }));
  }

  function when(memory, tick) {
    if (memory.origin === "initial") return "from before the run";
    const day = dayOf(overview, memory.minute);
    return day === dayOf(overview, minuteOf(overview, tick)) ? timeOf(memory.minute) : `${day}, ${timeOf(memory.minute)}`;
  }

  function store(name, memories, what) {
    const list = h("ul", { class: "plainlist memories" });
    const more = h("button", { type: "button" }, "Show all");
    const find = h("input", { type: "search", placeholder: "find", "aria-label": `Find in ${name.toLowerCase()}`, oninput: () => draw(FIRST) });
    more.addEventListener("click", () => draw(Infinity));
    function draw(count) {
      const sought = find.value.trim().toLowerCase();
      const found = memories.filter((one) => !sought || one.text.toLowerCase().includes(sought)).reverse();
      more.hidden = found.length <= count;
      fill(list, found.slice(0, count).map((one) => h("li", {}, one.emotion ? badge(one.emotion, one.intensity) : h("span", { class: "badge none", "aria-hidden": "true" }, "–"), " ", said(one.text),
        h("span", { class: "soft small" }, ` ${one.origin === "initial" ? "from before the run" : `${dayOf(overview, one.minute)}, ${timeOf(one.minute)}`}${one.poignancy ? `, poignancy ${one.poignancy} of 10` : ""}`))));
      more.textContent = `Show all ${found.length}`;
    }
    draw(FIRST);
    return h("details", { class: "card", open: true }, h("summary", {}, h("b", {}, name), h("span", { class: "soft" }, ` ${memories.length}; ${what}`)), find, list, more);
  }

  return { update };
}
