// Days as actograms: all days of one person, or one day of everybody; beneath, the day of the moment in words.

import { actogram } from "./actogram.js";
import { days, minuteOf, timeOf } from "./clock.js";
import { fill, h, said } from "./dom.js";
import { badge, legend } from "./feel.js";
import { kindsLegend } from "./palette.js";
import { show, state } from "./state.js";
import { at, stateAt, stretches } from "./track.js";

const TABLE_MS = 200; // the day in words follows when nobody seeks any further
const ROWS = 14; // the most days of a person in one picture, and
const PEOPLE = 40; // the most people

/** Build the panel into `section`. */
export function mountDays(section, overview) {
  let drawn = "";
  let picture = null;
  let later = null;

  function update(tick, who) {
    const all = days(overview);
    const day = all.findLast((one) => one.from <= tick) || all[0];
    const everybody = state().rows === "people";
    const key = [everybody ? day.number : Math.floor(all.indexOf(day) / ROWS), everybody || who, overview.ticks].join("|");
    if (key !== drawn) {
      drawn = key;
      const rows = everybody ? people(day) : ofPerson(all, day, who);
      picture = actogram(overview, rows, everybody ? `${day.name}: what everybody did and felt. The table below says it in words.` : `${who}'s days: what was done and felt. The table below says it in words.`);
      fill(section, head(all, day, who, everybody), h("div", { class: "lanes" }, picture.box), reading(picture.kinds), h("div", { class: "in-words" }));
    }
    picture.at(tick, who);
    words(day, who);
    mark(tick);
  }

  function ofPerson(all, day, who) {
    const from = Math.floor(all.indexOf(day) / ROWS) * ROWS;
    return all.slice(from, from + ROWS).map((one) => ({ name: one.name, who, day: one }));
  }

  function people(day) {
    return overview.people.filter(({ name }) => overview.tracks[name]).slice(0, PEOPLE).map(({ name, role }) => ({ name: `${name}, ${role}`, who: name, day }));
  }

  function words(day, who) {
    const box = section.querySelector(".in-words");
    const key = `${day.number} ${who} ${overview.ticks}`;
    if (box.dataset.shows === key) return;
    box.dataset.shows = key;
    clearTimeout(later);
    later = setTimeout(() => fill(box, table(day, who)) && mark(Number(state().tick) || 0), TABLE_MS);
  }

  function mark(tick) {
    for (const row of section.querySelectorAll("tr[data-tick]")) row.classList.toggle("now", Number(row.dataset.tick) <= tick && tick < Number(row.dataset.to));
  }

  function head(all, day, who, everybody) {
    const left = overview.people.length - PEOPLE;
    return h("div", { class: "row" },
      h("label", {}, h("span", { class: "soft small" }, "Show "), h("select", { onchange: (event) => show({ rows: event.target.value === "people" ? "people" : null }, true) },
        h("option", { value: "days", selected: !everybody }, `${who}, day by day`), h("option", { value: "people", selected: everybody }, "everybody on one day"))),
      all.length > 1 ? h("label", {}, h("span", { class: "soft small" }, "go to "), h("select", { onchange: (event) => show({ tick: event.target.value }) },
        all.map((one) => h("option", { value: one.from, selected: one.number === day.number }, one.name)))) : null,
      everybody && left > 0 ? h("span", { class: "soft small" }, `the first ${PEOPLE} of ${overview.people.length}; choose a person above for the others`) : null);
  }

  /** How to read the picture: only what is drawn in it. */
  function reading(kinds) {
    return h("div", { class: "reading" }, kindsLegend(kinds),
      h("ul", { class: "legend", "aria-label": "How to read the rows" },
        h("li", {}, h("span", { class: "chip feel-up" }), "above the line: a pleasant feeling, as high as it is strong (10 at most)"), h("li", {}, h("span", { class: "chip feel-down" }), "below: an unpleasant one"),
        h("li", {}, "on the line: neutral, or surprise"), h("li", {}, "◆ talk with a counselor"), h("li", {}, "○ other talk"), h("li", {}, "thin band: what had been planned"), h("li", {}, h("span", { class: "chip moment" }), "the moment shown")),
      h("details", { class: "small" }, h("summary", {}, "Signs of the emotions"), legend()));
  }

  function table(day, who) {
    const track = overview.tracks[who];
    if (!track) return null;
    const rows = stretches(track.doing, day.from, day.to).filter(({ from }) => stateAt(overview, who, from).here).map(({ from, to, state: [text, kind] }) => {
      const planned = at(track.planned, from);
      const other = planned && planned[1] !== text ? overview.texts[planned[1]] : null;
      const now = stateAt(overview, who, from);
      const talks = overview.talks.filter((one) => one.who.includes(who) && one.tick >= from && one.tick < to);
      return h("tr", { "data-tick": from, "data-to": to },
        h("td", {}, h("button", { type: "button", class: "plain", onclick: () => show({ tick: from }) }, timeOf(minuteOf(overview, from)))),
        h("td", {}, said(overview.texts[text]), h("span", { class: "soft small" }, ` ${overview.texts[kind]}, in `, said(now.place || "")), other ? h("div", { class: "soft small" }, "planned: ", said(other)) : null,
          talks.map((one) => h("div", {}, h("button", { type: "button", class: "plain", onclick: () => show({ tick: one.tick, chat: one.chat, panel: "talks" }) },
            `talks with ${one.who.filter((name) => name !== who).join(" and ")}`)))),
        h("td", {}, badge(now.emotion, now.intensity, true)));
    });
    return h("details", { class: "day-table", open: true }, h("summary", {}, `${who}'s ${day.name} in words`),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${who}'s day` },
        h("table", {}, h("thead", {}, h("tr", {}, ["Time", "Does, and where", "Feels"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows))));
  }

  return { update, redraw() { drawn = ""; } };
}
