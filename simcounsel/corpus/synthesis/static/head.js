// What a synthesis is, above its sessions: how far it is, and the six roles that write each session.

import { bundled } from "./source.js";
import { fill, h, said, sentence } from "./dom.js";

const ROLES = [
  ["extractor", "makes a client's file out of a situation"], ["seeker", "speaks as the client and opens up stage by stage"],
  ["supporter", "drafts the counselor's line"], ["evaluator", "judges the draft in nine qualities and says what to change"],
  ["corrector", "revises it, if asked"], ["manager", "makes strategies of the advice, for the next wave"],
];
const NARROW = 760;

/** Build it once; `update` changes what it says. */
export function mountHead(head) {
  const title = h("span", {});
  const about = h("p", { class: "soft small" });
  const counts = h("p", { class: "small" });
  const label = h("p", { class: "small label", role: "note", hidden: true });
  const roles = h("ol", { class: "roles" });
  fill(head, h("p", { class: "soft small care" }, "Simulated people. A research tool, not care; no evidence about people."), label,
    h("h1", {}, bundled ? null : [h("a", { href: "/" }, "Runs"), " / "], title), about, counts,
    h("details", { class: "made", open: innerWidth > NARROW }, h("summary", { class: "small" }, "How each session is made"), roles));
  return { update };

  function update(found) {
    const models = [...new Set(Object.values(found.roles))];
    fill(title, said(found.name || found.run));
    fill(about, "a synthesis of dialogues", models.length === 1 ? [", all roles: ", said(models[0])] : "", found.parent ? ["; forked from ", said(found.parent)] : "", found.about ? [": ", said(found.about)] : "");
    label.hidden = !found.label;
    fill(label, found.label ? said(sentence(found.label)) : null);
    fill(counts, counted(found));
    fill(roles, ROLES.map(([role, does]) => one(found, role, does, models.length > 1)));
  }
}

function one(found, role, does, named) {
  const without = found.without.includes("evaluator") ? ["evaluator", "corrector", "manager"] : found.without;
  const out = without.includes(role);
  return h("li", { class: out ? "out" : null }, h("b", {}, role), h("span", { class: "small" }, out ? "takes no part here" : does), named && !out && found.roles[role] ? h("span", { class: "tag" }, said(found.roles[role])) : null);
}

/** How far it is, in words. */
function counted(found) {
  const sum = (key) => found.sessions.reduce((all, session) => all + (session[key] ?? 0), 0);
  const [drafts, revised] = [sum("drafts"), sum("revised")];
  return [
    `${found.sessions.length} of ${found.sessions_planned ?? "?"} sessions in ${found.waves} of ${found.waves_planned ?? "?"} waves`,
    drafts ? `${revised} of ${drafts} counselor lines revised (${((100 * revised) / drafts).toFixed(1)} %)` : null,
    `${found.strategies.length} ${found.strategies.length === 1 ? "strategy" : "strategies"}`,
    found.warnings ? `${found.warnings} ${found.warnings === 1 ? "warning" : "warnings"}` : null,
  ].filter(Boolean).join(" · ");
}
