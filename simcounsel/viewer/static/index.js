// The list of runs: a table to sort, filter, group and search; chosen ones open side by side or together.

import { COLUMNS, armOf, scaleColumns } from "./columns.js";
import { announce, fill, h, said } from "./dom.js";
import { get, path } from "./source.js";
import { onShow, show, state } from "./state.js";

const AT_ONCE = 4; // rows that are read at a time
const DRAW_MS = 250; // while rows come in
const FILTERS = [["arm", "Arm", armOf], ["world", "World", (run) => run.world || "?"], ["model", "Model", (run) => run.model || "?"]];
const GROUPS = [["", "none"], ["world", "world"], ["arm", "arm"], ["client", "client"], ["model", "model"]];
const SCALES_SHOWN = 4; // at first

const main = document.getElementById("main");
const chosen = new Set();
const parts = { table: h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Runs" }), chooser: h("div", {}), more: h("div", {}), count: h("span", { class: "soft small", role: "status" }), open: h("span", { class: "row" }) };
let runs = [];
let later = null;

get(null, "runs").then(start, (error) => fill(main, h("h1", {}, "Runs"), h("p", { class: "warn", role: "alert" }, error.message)));

function start(found) {
  runs = found;
  const shown = h("div", {});
  get(null, "gallery").then((all) => fill(shown, gallery(all)), () => {});
  if (!runs.length) return fill(main, head(), h("h1", {}, "Runs"), h("p", {}, "There are no runs here yet. Start one: ", h("code", {}, "simcounsel run insomnia --ticks 24"), ". Or look at one that is there already:"), shown);
  fill(main, head(), h("h1", {}, "Runs"), tools(), parts.chooser, h("p", { class: "row" }, parts.open, parts.count), parts.table, parts.more, shown);
  addEventListener("resize", hint);
  onShow(draw);
  draw();
  return readRows();
}

/** The name of the product, and where to find help. */
function head() {
  return h("header", { class: "row site-head" }, h("b", {}, "simcounsel"), h("span", { class: "soft small" }, "simulated counseling"), h("a", { href: "#gallery", onclick: (event) => { event.preventDefault(); document.getElementById("gallery")?.scrollIntoView(); } }, "Gallery"),
    h("details", { class: "help" }, h("summary", {}, "Help"), h("p", { class: "small" }, "Each row is a run. Press its name to read it, a heading to sort. Tick two rows to compare them, or several to see each score over time. In a terminal, ", h("code", {}, "simcounsel --help"), " lists what else can be done.")));
}

/** The runs that come with simcounsel. */
function gallery(all) {
  return h("section", { id: "gallery", class: "card" }, h("h2", {}, "Gallery"), h("p", { class: "soft small" }, "Runs that come with simcounsel, written by hand: they show what the engine does with good answers. ", h("a", { href: `/run/${encodeURIComponent(all[0].name)}#tour=1` }, "Take the tour"), "."),
    h("ul", { class: "plainlist" }, all.map((one) => h("li", {}, h("a", { href: `/run/${encodeURIComponent(one.name)}` }, one.name.replace("gallery:", "")), ": ", one.line, "."))));
}

/** Say that there is more beside the table than fits. */
function hint() {
  const more = parts.table.scrollWidth - parts.table.clientWidth > 8;
  fill(parts.more, more ? h("p", { class: "soft small" }, "More columns to the right: scroll the table sideways →") : null);
}

/** Fill in what must be read of each run, some at a time, those on top first. */
async function readRows() {
  const waiting = runs.filter((run) => !run.unit && run.ticks !== undefined && !run.unreadable);
  const next = async () => {
    for (let run = waiting.shift(); run; run = waiting.shift()) {
      run.row = await get(run.name, "row").catch((error) => { run.trouble = error.message; });
      clearTimeout(later);
      later = setTimeout(draw, DRAW_MS);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  clearTimeout(later);
  draw();
  announce(`${runs.length} runs are read`);
}

function tools() {
  const search = h("input", { type: "search", value: state().q || "", placeholder: "in any column", oninput: (event) => show({ q: event.target.value || null }, true) });
  const filters = FILTERS.filter(([, , of]) => new Set(runs.map(of)).size > 1);
  const options = ([key, name, of]) => h("label", {}, name, h("select", { "aria-label": name, onchange: (event) => show({ [key]: event.target.value || null }, true) }, h("option", { value: "" }, "all"),
    [...new Set(runs.map(of))].sort().map((value) => h("option", { value, selected: state()[key] === value }, value))));
  return h("div", { class: "row list-tools" }, h("label", {}, "Search", search), filters.map(options),
    h("label", {}, "Group by", h("select", { onchange: (event) => show({ group: event.target.value || null }, true) }, GROUPS.map(([key, name]) => h("option", { value: key, selected: (state().group || "") === key }, name)))));
}

/** The columns that are shown now. */
function columns() {
  const scales = scaleColumns(runs);
  const wanted = state().columns === undefined ? null : new Set(state().columns.split(","));
  const whole = scales.filter((one) => one.whole);
  const first = new Set((whole.length ? whole : scales).slice(0, SCALES_SHOWN).map((one) => one.key));
  const last = COLUMNS.length - 1; // when it was begun
  const shown = [...COLUMNS.slice(0, last), ...scales.filter((one) => (wanted ? wanted.has(one.key) : first.has(one.key))), COLUMNS[last]];
  return { scales, shown };
}

function draw() {
  const { scales, shown } = columns();
  const mine = sorted(runs.filter((run) => passes(run, [...COLUMNS, ...scales])), shown);
  choose(scales, shown);
  opening();
  const read = runs.filter((run) => run.row || run.trouble || run.unit).length;
  fill(parts.count, mine.length === runs.length ? `${runs.length} ${runs.length === 1 ? "run" : "runs"}` : `${mine.length} of ${runs.length} runs`, read < runs.length ? `; reading them, ${read} of ${runs.length}` : "");
  const focus = document.activeElement?.dataset?.focus;
  fill(parts.table, h("table", { class: "runs" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "hidden" }, "choose")), heading({ key: "name", name: "Run" }), shown.map(heading))), bodies(mine, shown)));
  hint();
  if (focus) parts.table.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
}

function passes(run, all) {
  if (FILTERS.some(([key, , of]) => state()[key] && of(run) !== state()[key])) return false;
  const wanted = (state().q || "").toLocaleLowerCase().trim();
  return !wanted || [run.name, run.parent || "", ...all.map((one) => one.words(run))].join(" ").toLocaleLowerCase().includes(wanted);
}

function sorted(mine, shown) {
  const by = [{ key: "name", words: (run) => run.name }, ...shown].find((one) => one.key === state().sort);
  if (!by) return mine;
  const turn = state().down ? -1 : 1;
  const value = by.value || by.words;
  return [...mine].sort((one, two) => {
    const [a, b] = [value(one), value(two)];
    if (a === null || b === null) return (a === null) - (b === null);
    return turn * (typeof a === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true }));
  });
}

function heading(column) {
  const mine = state().sort === column.key;
  const press = () => show({ sort: mine && state().down ? null : column.key, down: mine && !state().down ? "1" : null }, true);
  return h("th", { scope: "col", class: column.key === "name" || column.scale ? null : "rest", "aria-sort": mine ? (state().down ? "descending" : "ascending") : null }, h("button", { type: "button", "data-focus": `sort ${column.key}`, onclick: press }, column.name, mine ? (state().down ? " ▼" : " ▲") : ""));
}

function bodies(mine, shown) {
  const by = COLUMNS.find((one) => one.key === state().group);
  if (!by) return h("tbody", {}, mine.map((run) => line(run, shown)));
  return [...new Set(mine.map(by.words))].sort().map((name) => {
    const group = mine.filter((run) => by.words(run) === name);
    return h("tbody", {}, h("tr", { class: "group" }, h("th", { colspan: shown.findIndex((one) => one.scale || one === COLUMNS.at(-1)) + 2, scope: "rowgroup" }, said(name), ` (${group.length})`), shown.filter((one) => one.scale || one === COLUMNS.at(-1)).map((one) => h("td", {}, one.scale ? meanChange(group, one) : ""))), group.map((run) => line(run, shown)));
  });
}

/** The mean over runs of how much a score changed: the unit is the run. */
function meanChange(group, column) {
  const changes = group.map((run) => column.changes(run)).filter((all) => all.length).map((all) => all.reduce((sum, one) => sum + one, 0) / all.length);
  if (!changes.length) return "";
  const mean = changes.reduce((sum, one) => sum + one, 0) / changes.length;
  return `mean change ${mean > 0 ? "+" : ""}${(Math.round(mean * 100) / 100).toString().replace("-", "−")} (${changes.length} ${changes.length === 1 ? "run" : "runs"})`;
}

function line(run, shown) {
  const box = h("input", { type: "checkbox", "aria-label": `choose ${run.name}`, "data-focus": `choose ${run.name}`, checked: chosen.has(run.name), onchange: (event) => {
    if (event.target.checked) chosen.add(run.name);
    else chosen.delete(run.name);
    opening();
  } });
  return h("tr", {}, h("td", {}, box),
    h("td", { class: "wraps" }, h("a", { href: `/run/${encodeURIComponent(run.name)}`, "data-focus": `open ${run.name}` }, run.name), run.parent ? h("div", { class: "soft small", title: `forked from ${run.parent}` }, "a fork") : null,
      [...run.problems, ...(run.trouble ? [run.trouble] : [])].map((one) => h("div", { class: "small warn" }, one)), run.row?.danger.open ? h("div", { class: "small warn" }, `Danger is left open${run.row.danger.open > 1 ? `, ${run.row.danger.open} times` : ""}`) : null),
    shown.map((one) => h("td", { class: `${one.wraps ? "wraps" : "number"}${one.scale ? " scale" : " rest"}` }, one.cell ? one.cell(run) : said(one.words(run)))));
}

/** Which scores have a column. */
function choose(scales, shown) {
  const key = scales.map((one) => one.key).join();
  if (parts.chooser.dataset.shows === key) return;
  parts.chooser.dataset.shows = key;
  const toggled = () => show({ columns: [...parts.chooser.querySelectorAll("input:checked")].map((one) => one.value).join(",") }, true);
  fill(parts.chooser, scales.length ? h("details", {}, h("summary", {}, `Scores: ${scales.length} were measured`), h("div", { class: "columns" }, scales.map((one) => h("label", {}, h("input", { type: "checkbox", value: one.key, checked: shown.includes(one) || shown.some((other) => other.key === one.key), onchange: toggled }), one.name)))) : null);
}

/** What can be done with the chosen rows. */
function opening() {
  const names = [...chosen];
  const go = (address) => () => { location.href = address; };
  fill(parts.open, h("button", { type: "button", class: "main", disabled: names.length !== 2, onclick: go(`/compare?a=${encodeURIComponent(names[0])}&b=${encodeURIComponent(names[1])}`) }, "Compare two"),
    h("button", { type: "button", class: "main", disabled: names.length < 2, onclick: go(`/several?${names.map((name) => `run=${encodeURIComponent(name)}`).join("&")}`) }, "Open together"),
    h("button", { type: "button", onclick: () => { for (const run of runs.filter((one) => passes(one, columns().shown) && !one.unit)) chosen.add(run.name); draw(); } }, "Tick all"),
    names.length ? h("button", { type: "button", onclick: () => { chosen.clear(); draw(); } }, `Clear ${names.length}`) : null);
}
