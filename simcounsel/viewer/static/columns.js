// The columns of the list of runs: what each shows of a run, and by what it is sorted.

import { h, said } from "./dom.js";
import { number } from "./scores.js";

const LEVELS = ["none", "low", "high", "imminent"];
const BY = { self: "self-report", observer: "observer", human: "the person", talk: "counted" };

/** Columns that every run has: {key, name, value (to sort by), words (to search in and group by), cell}. */
export const COLUMNS = [
  { key: "world", name: "World", words: (run) => run.world || "?", wraps: true },
  { key: "arm", name: "Arm", words: armOf },
  { key: "client", name: "Client", words: (run) => (run.clients || []).join(", ") || "–" },
  { key: "seed", name: "Seed", words: (run) => String(run.seed ?? "?"), value: (run) => run.seed ?? null },
  { key: "model", name: "Model", words: (run) => (String(run.model).startsWith("byhand:") ? "by hand" : run.model || "?"), wraps: true },
  { key: "ticks", name: "Done", words: (run) => `${run.ticks} of ${run.ticks_planned ?? "?"} ${run.unit || "ticks"}`, value: (run) => run.ticks },
  { key: "cost", name: "Cost", words: costOf, value: (run) => run.row?.cost ?? null },
  { key: "fallbacks", name: "Fallbacks", words: (run) => (run.row ? `${run.row.fallbacks} of ${run.row.calls}` : waiting(run)), value: (run) => (run.row ? run.row.fallbacks / Math.max(1, run.row.calls) : null) },
  { key: "danger", name: "Danger", words: dangerOf, value: (run) => (run.row ? LEVELS.indexOf(run.row.danger.level) * 1000 + run.row.danger.heard : null), cell: (run) => (run.row?.danger.open ? h("span", { class: "warn-text" }, dangerOf(run)) : dangerOf(run)) },
  { key: "created", name: "Begun", words: (run) => (run.created || "?").slice(0, 16).replace("T", " ") },
];

/** Where nothing was read of a run: nothing will be, or not yet. */
const waiting = (run) => (run.unit || run.trouble || run.unreadable ? "–" : "…");

/** The arm of a sweep, else the condition. */
export function armOf(run) {
  return run.arm || run.condition || "–";
}

function costOf(run) {
  if (!run.row) return waiting(run);
  if (run.row.cost === null) return "price unknown";
  return run.row.cost ? `${run.row.cost.toFixed(run.row.cost < 0.1 ? 4 : 2)} USD` : run.row.by_hand ? "by hand" : "free";
}

function dangerOf(run) {
  if (!run.row) return waiting(run);
  const { level, heard, open } = run.row.danger;
  return heard || open ? `${level}, heard ${heard}×${open ? `; ${open} left open` : ""}` : "none heard";
}

/** A column for each score that any of these runs was measured with, as `COLUMNS`; by default those of whole scales are shown. */
export function scaleColumns(runs) {
  const found = new Map();
  for (const run of runs) for (const one of run.row?.scales || []) {
    const key = `${one.instrument}.${one.score}.${one.respondent}`;
    if (!found.has(key)) found.set(key, { key, name: `${one.instrument.replaceAll("_", " ")}${one.score === "total" ? "" : `: ${one.score.replaceAll("_", " ")}`}`, by: BY[one.respondent], whole: one.score === "total" });
  }
  return [...found.values()].map((column) => {
    const of = (run) => (run.row?.scales || []).filter((one) => `${one.instrument}.${one.score}.${one.respondent}` === column.key);
    const text = (one) => (one.change === null ? number(one.last) : `${number(one.first)} → ${number(one.last)} (${one.change > 0 ? "+" : ""}${number(one.change)})`);
    return {
      ...column, name: `${column.name} (${column.by})`, scale: true,
      changes: (run) => of(run).map((one) => one.change).filter((change) => change !== null),
      value: (run) => { const [one] = of(run); return one ? (one.change ?? one.last) : null; },
      words: (run) => (run.row ? of(run).map((one) => `${text(one)}${one.band ? ` ${one.band}` : ""}`).join("; ") || "–" : waiting(run)),
      cell: (run) => (run.row ? of(run).map((one) => h("div", {}, of(run).length > 1 ? [said(one.who), ": "] : null, text(one), one.trial ? h("span", { class: "soft small", title: "From a model for trying the software; no measurement." }, " (no measurement)") : null, one.band ? h("div", { class: "soft small" }, said(one.band)) : null)) : waiting(run)),
    };
  });
}
