// The list of runs, the newest first; two of them can be compared.

import { fill, h, said } from "./dom.js";
import { get } from "./source.js";

const main = document.getElementById("main");
const chosen = [];

get(null, "runs").then(draw, (error) => fill(main, h("h1", {}, "Runs"), h("p", { class: "warn", role: "alert" }, error.message)));

function draw(runs) {
  if (!runs.length) return fill(main, h("h1", {}, "Runs"), h("p", {}, "There are no runs in this folder yet; ", h("code", {}, "python -m simcounsel run worlds/insomnia.yaml"), " makes one."));
  const compare = h("button", { type: "button", class: "main", disabled: true, onclick: () => { location.href = `/compare?a=${encodeURIComponent(chosen[0])}&b=${encodeURIComponent(chosen[1])}`; } }, "Compare two");
  const choose = (name, box) => {
    if (box.checked) chosen.push(name);
    else chosen.splice(chosen.indexOf(name), 1);
    compare.disabled = chosen.length !== 2;
  };
  return fill(main, h("h1", {}, "Runs"), h("p", { class: "row" }, compare, h("span", { class: "soft small" }, "tick two runs to see them side by side")),
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Runs" }, h("table", { class: "runs" }, h("thead", {}, h("tr", {}, ["", "Run", "World", "Condition", "Seed", "Model", "Lived", "Begun"].map((name) => h("th", { scope: "col" }, name || h("span", { class: "hidden" }, "compare"))))),
      h("tbody", {}, runs.map((run) => h("tr", {},
        h("td", {}, h("input", { type: "checkbox", "aria-label": `compare ${run.name}`, onchange: (event) => choose(run.name, event.target) })),
        h("td", {}, h("a", { href: `/run/${encodeURIComponent(run.name)}` }, run.name), run.parent ? h("div", { class: "soft small" }, `forked from ${run.parent}`) : null, run.problems.map((one) => h("div", { class: "small warn" }, one)), run.open_ends ? h("div", { class: "small warn" }, `Danger is left open${run.open_ends > 1 ? `, ${run.open_ends} times` : ""}`) : null),
        h("td", {}, said(run.world || "?")), h("td", {}, run.condition || "?"), h("td", {}, run.seed ?? "?"), h("td", {}, run.model || "?"), h("td", {}, `${run.ticks} of ${run.ticks_planned ?? "?"}${run.unit ? ` ${run.unit}` : ""}`), h("td", { class: "soft" }, run.created || "?")))))));
}
