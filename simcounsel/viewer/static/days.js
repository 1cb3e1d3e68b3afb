// A lane for each person over one day: what was planned above, what was done below, talks as links between lanes.

import { days, minuteOf, timeOf } from "./clock.js";
import { fill, h, said } from "./dom.js";
import { badge, legend } from "./feel.js";
import { show, state } from "./state.js";
import { at, stateAt, stretches } from "./track.js";

const TABLE_MS = 200; // the day in words follows when nobody seeks any further
const [WIDTH, LEFT, LANE, BAR, TOP] = [960, 78, 54, 17, 22];

/** Build the panel into `section`. */
export function mountDays(section, overview) {
  let drawn = "";
  let later = null;

  function update(tick, who) {
    const colour = state().colour === "activity" ? "activity" : "emotion";
    const all = days(overview);
    const day = all.findLast((one) => one.from <= tick) || all[0];
    const key = [day.number, who, colour, overview.ticks].join("|");
    if (key !== drawn) {
      drawn = key;
      const words = h("div", {});
      clearTimeout(later);
      later = setTimeout(() => fill(words, table(day, who)) && mark(Number(state().tick) || 0), TABLE_MS);
      fill(section, head(all, day, colour), h("div", { class: "lanes", tabindex: "0", role: "region", "aria-label": "The day in lanes" }, lanes(day, colour)), colour === "emotion" ? legend() : kinds(day), words);
    }
    const cursor = section.querySelector(".cursor");
    const x = LEFT + ((WIDTH - LEFT) * (minuteOf(overview, tick) % 1440)) / 1440;
    cursor?.setAttribute("transform", `translate(${x} 0)`);
    mark(tick);
  }

  function mark(tick) {
    for (const row of section.querySelectorAll("tr[data-tick]")) row.classList.toggle("now", Number(row.dataset.tick) <= tick && tick < Number(row.dataset.to));
  }

  function head(all, day, colour) {
    return h("div", { class: "row" },
      h("label", {}, h("span", { class: "hidden" }, "Day "), h("select", { onchange: (event) => show({ tick: event.target.value }) },
        all.map((one) => h("option", { value: one.from, selected: one.number === day.number }, one.name)))),
      h("label", {}, h("span", { class: "soft small" }, "colored by "), h("select", { onchange: (event) => show({ colour: event.target.value }, true) },
        ["emotion", "activity"].map((one) => h("option", { value: one, selected: one === colour }, one)))));
  }

  function lanes(day, colour) {
    const people = overview.people.map((one) => one.name).filter((name) => overview.tracks[name]);
    const row = new Map(people.map((name, index) => [name, TOP + index * LANE]));
    const height = TOP + people.length * LANE + 4;
    const x = (tick) => LEFT + ((WIDTH - LEFT) * (minuteOf(overview, tick) - day.number * 1440)) / 1440;
    const svg = h("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": `${day.name}: ${people.join(", ")}. The table below says it in words.` });
    const under = (event) => pointed(svg, event, people, day);
    svg.addEventListener("click", (event) => {
      const there = under(event);
      if (there && !event.target.closest(".talk-link")) show({ tick: there.tick, who: there.name });
    });
    const tip = h("title", {});
    svg.append(tip);
    svg.addEventListener("pointermove", (event) => {
      const there = under(event);
      tip.textContent = there ? told(there) : "";
    });
    for (let hour = 0; hour <= 24; hour += 3) {
      const at = LEFT + ((WIDTH - LEFT) * hour) / 24;
      svg.append(h("line", { class: "hour", x1: at, x2: at, y1: TOP - 6, y2: height }), h("text", { class: "hour-name", x: at, y: 11, "text-anchor": hour === 24 ? "end" : "middle" }, `${String(hour).padStart(2, "0")}:00`));
    }
    const paths = new Map();
    for (const name of people) lane(paths, name, row.get(name), day, x, colour);
    svg.append(...[...paths].map(([kind, d]) => h("path", { class: `block ${kind}`, d })), ...people.map((name) => named(name, row.get(name))));
    for (const talk of overview.talks.filter((one) => one.tick >= day.from && one.tick < day.to)) svg.append(link(talk, row, x));
    svg.append(h("g", { class: "cursor" }, h("line", { x1: 0, x2: 0, y1: TOP - 8, y2: height })));
    return svg;
  }

  /** Whose lane and which tick lies under the pointer; null beside the lanes. */
  function pointed(svg, event, people, day) {
    const box = svg.getBoundingClientRect();
    const [x, y] = [((event.clientX - box.left) * WIDTH) / box.width, ((event.clientY - box.top) * WIDTH) / box.width];
    const name = people[Math.floor((y - TOP) / LANE)];
    const minute = day.number * 1440 + ((x - LEFT) * 1440) / (WIDTH - LEFT);
    const tick = Math.floor((minute - overview.first_minute) / overview.tick_minutes);
    if (!name || x < LEFT || tick < day.from || tick >= day.to) return null;
    return { name, tick, planned: (y - TOP) % LANE < BAR };
  }

  function told({ name, tick, planned }) {
    const now = stateAt(overview, name, tick);
    const time = timeOf(minuteOf(overview, tick));
    if (planned) return `${name}, planned for ${time}: ${now.planned ? now.planned.doing : "nothing"}`;
    return `${name}, ${time}: ${now.doing || "nothing yet"} (${now.emotion} ${now.intensity})`;
  }

  const named = (name, y) => h("text", { class: "lane-name", x: 0, y: y + BAR + 5 }, name.length > 11 ? `${name.slice(0, 10)}…` : name);

  /** Add one lane's blocks to the paths, one path a color: a day of many people has thousands of blocks. */
  function lane(paths, name, y, day, x, colour) {
    const track = overview.tracks[name];
    const { texts } = overview;
    const block = (from, to, top, kind) => {
      const piece = `M${x(from).toFixed(1)} ${top}h${Math.max(0.5, x(to) - x(from) - 0.6).toFixed(1)}v${BAR}H${x(from).toFixed(1)}z`;
      paths.set(kind, (paths.get(kind) || "") + piece);
    };
    for (const { from, to, state: [, kind] } of stretches(track.planned, day.from, day.to)) block(from, to, y, `meant kind-${texts[kind]}`);
    for (const { from, to, state: [, kind] } of stretches(track.doing, day.from, day.to)) {
      if (colour === "activity") block(from, to, y + BAR + 2, `kind-${texts[kind]}`);
      else {
        const felt = stretches(track.feeling, from, to);
        if (!felt.length || felt[0].from > from) block(from, felt.length ? felt[0].from : to, y + BAR + 2, "feel-neutral");
        for (const part of felt) block(part.from, part.to, y + BAR + 2, `feel-${texts[part.state[0]]}`);
      }
    }
  }

  function link(talk, row, x) {
    const [a, b] = talk.who.map((name) => row.get(name)).sort((one, two) => one - two);
    const at = x(talk.tick) + (x(talk.tick + 1) - x(talk.tick)) / 2;
    const go = () => show({ tick: talk.tick, chat: talk.chat, panel: "talks" });
    return h("g", { class: "talk-link", onclick: go },
      h("title", {}, `${talk.who.join(" and ")} talk, ${talk.lines} lines`),
      h("line", { x1: at, x2: at, y1: a + BAR * 2 + 2, y2: b }), h("circle", { cx: at, cy: a + BAR * 2 + 4, r: 4 }), h("circle", { cx: at, cy: b, r: 4 }));
  }

  function kinds(day) {
    const used = new Set();
    for (const track of Object.values(overview.tracks)) for (const { state: [, kind] } of stretches(track.doing, day.from, day.to)) used.add(overview.texts[kind]);
    return h("ul", { class: "legend", "aria-label": "Kinds of activity" }, [...used].sort().map((kind) => h("li", {}, h("span", { class: `chip kind-${kind}` }), kind)));
  }

  function table(day, who) {
    const track = overview.tracks[who];
    if (!track) return null;
    const rows = stretches(track.doing, day.from, day.to).map(({ from, to, state: [text] }) => {
      const planned = at(track.planned, from);
      const other = planned && planned[1] !== text ? overview.texts[planned[1]] : null;
      const now = stateAt(overview, who, from);
      const talks = overview.talks.filter((one) => one.who.includes(who) && one.tick >= from && one.tick < to);
      return h("tr", { "data-tick": from, "data-to": to },
        h("td", {}, h("button", { type: "button", class: "plain", onclick: () => show({ tick: from }) }, timeOf(minuteOf(overview, from)))),
        h("td", {}, said(overview.texts[text]), other ? h("div", { class: "soft small" }, "planned: ", said(other)) : null,
          talks.map((one) => h("div", {}, h("button", { type: "button", class: "plain", onclick: () => show({ tick: one.tick, chat: one.chat, panel: "talks" }) },
            `talks with ${one.who.find((name) => name !== who)}`)))),
        h("td", { class: "soft" }, said(now.place || "")), h("td", {}, badge(now.emotion, now.intensity, true)));
    });
    return h("details", { class: "day-table", open: true }, h("summary", {}, `${who}'s ${day.name} in words`),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${who}'s day` },
        h("table", {}, h("thead", {}, h("tr", {}, ["Time", "Does", "Where", "Feels"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows))));
  }

  return { update, redraw() { drawn = ""; } };
}
