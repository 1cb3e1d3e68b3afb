// Conversations: what was said with which feeling, what came to mind before, the chosen move, and what it left behind.

import { momentOf, timeOf } from "./clock.js";
import { announce, fill, h, said } from "./dom.js";
import { BY, LEVELS, kindsText } from "./danger.js";
import { badge } from "./feel.js";
import { followed } from "./evidence.js";
import { hitList, stoodBack, termLegend } from "./memory.js";
import { get, path } from "./source.js";
import { show, state } from "./state.js";

const STAGES = { early: "says little yet", telling: "tells", doubting: "draws back", angry: "is angry", hopeful: "hopes", ending: "takes leave" }; // how far a client has opened up
const REASONS = { drawn: "by chance, by the weights of this way of working" };
const ENDED = { goodbye: "took leave", limit: "the turn limit was reached", left: "said no more in time, and it ended there" };

const ADVANCE = { advance: "to the next stage", repeat: "this stage once more", back: "back a stage", end: "the course ends" };

/** Build the panel into `section`. */
export function mountTalks(section, run, overview) {
  let asked = 0;
  const pick = h("select", { onchange: () => go() });
  let listed = null;
  let jumped = null; // the line of the address to which the page went last
  const body = h("div", {});

  async function update(tick, who) {
    asked += 1;
    const mine = asked;
    const chat = state().chat || [...overview.talks].reverse().find((one) => one.tick <= tick && one.who.includes(who))?.chat || overview.talks[0]?.chat;
    if (!chat) return fill(section, h("h2", {}, "Conversations"), h("p", { class: "soft" }, "Nobody has talked in this run."));
    const [talk, found] = await Promise.all([get(run, path("conversation", chat)), get(run, "outcomes")]);
    if (mine !== asked) return undefined;
    if (!pick.isConnected) fill(section, h("h2", {}, "Conversations"), h("label", { class: "talk-pick" }, h("span", { class: "hidden" }, "Conversation "), pick), body);
    list(talk.who.includes(who) ? who : talk.who[0]);
    pick.value = chat;
    fill(body, transcript(talk, followed(overview, found, talk)));
    if (state().line && state().line !== jumped) document.getElementById(`line-${state().line}`)?.scrollIntoView({ block: "center" });
    jumped = state().line;
    return undefined;
  }

  /** Only one person's conversations: those of a whole town are too many to choose from, and to lay out. */
  function list(who) {
    const mine = overview.talks.filter((one) => one.who.includes(who));
    if (listed === `${who} ${mine.length}`) return;
    listed = `${who} ${mine.length}`;
    fill(pick, mine.map((one, number) => h("option", { value: one.chat }, `${who} ${number + 1}. ${momentOf(overview, one.tick)}, with ${one.who.find((name) => name !== who)}`)));
  }

  function go() {
    const talk = overview.talks.find((one) => one.chat === pick.value);
    show({ chat: talk.chat, tick: talk.tick });
  }

  function transcript(talk, after) {
    const authors = new Set(talk.lines.map((line) => line.author));
    return h("article", {},
      h("p", { class: "soft" }, `${momentOf(overview, talk.tick)}, `, said(talk.place), authors.size === 1 ? `; all lines ${[...authors][0]}` : "", `; ${talk.cause === "appointment" ? "by appointment" : `by chance: closeness ${talk.closeness}, probability ${talk.probability}`}`),
      talk.open_danger && talk.open_danger !== "none" ? h("p", { class: "warn" }, h("b", {}, "Ended on open danger: "), `${kindsText(talk.open_kinds)} (${talk.open_danger}).`) : null,
      dangers(talk),
      h("ol", { class: "lines" }, talk.lines.map((line) => spoken(talk, line, after, authors.size > 1))),
      h("p", { class: "soft" }, `${talk.by ? `${talk.by} ` : ""}${ENDED[talk.ended] || "it goes on"}.`),
      courseOf(talk.course || []),
      h("section", { class: "card" }, h("h3", {}, "What it left behind"), h("dl", {}, Object.entries(talk.after).map(([name, left]) => [h("dt", {}, said(name)), h("dd", {},
        left.summary ? [badge(left.emotion, left.intensity), " ", said(left.summary)] : "nothing yet",
        practised(left.practice), behind(left.practice),
        left.relation ? h("div", { class: "soft small" }, `closeness ${left.relation.before} → ${left.relation.after} (${left.relation.why})`) : null)]))),
      after, takeAway(talk));
  }

  /** From one line with danger to the next, and only those and their answers. */
  function dangers(talk) {
    const heard = talk.lines.filter((line) => line.assessed && line.assessed.level !== "none");
    if (!heard.length) return null;
    let at = -1;
    const next = () => {
      at = (at + 1) % heard.length;
      const line = document.getElementById(`line-${heard[at].message}`);
      line.scrollIntoView({ block: "start" });
      line.focus({ preventScroll: true });
      announce(`Line ${heard[at].message}, ${LEVELS[heard[at].assessed.level]}, ${at + 1} of ${heard.length}`);
    };
    const only = h("input", { type: "checkbox", id: "only-danger", onchange: (event) => {
      const answered = new Set(heard.flatMap((line) => [line.message, line.message + 1]));
      for (const line of talk.lines) document.getElementById(`line-${line.message}`).hidden = event.target.checked && !answered.has(line.message);
    } });
    return h("p", { class: "row danger-row" }, h("b", {}, `Danger was heard in ${heard.length} ${heard.length === 1 ? "line" : "lines"}.`),
      h("button", { type: "button", onclick: next }, "Next line with danger"), h("span", { class: "row" }, only, h("label", { for: "only-danger" }, "only these and their answers")));
  }

  function told(assessed) {
    return h("p", { class: "small danger-why" }, h("b", {}, LEVELS[assessed.level]), `${assessed.kinds.length ? ` (${kindsText(assessed.kinds)})` : ""}, judged by ${BY[assessed.by] || assessed.by}: `,
      assessed.evidence.length ? said(assessed.evidence.map((words) => `“${words}”`).join(", ")) : "no words of its own");
  }

  function spoken(talk, line, after, signed) {
    const side = line.who === talk.who[0] ? "one" : "two";
    const mine = state().line === String(line.message);
    const hits = h("div", {}, "…");
    const why = async (event) => {
      if (!event.target.open || !line.recalled || hits.dataset.filled) return;
      hits.dataset.filled = "yes";
      const memories = await get(run, path("memories", line.who));
      const known = new Map(memories.map((one) => [one.id, one]));
      fill(hits, hitList(line.recalled.hits, known, overview.weights), stoodBack(line.recalled.stood_back, known));
    };
    return h("li", { class: `line side-${side}${mine ? " now" : ""}`, id: `line-${line.message}`, tabindex: "-1" },
      h("div", { class: "line-head" }, h("b", {}, said(line.who)), badge(line.emotion, line.intensity, true), line.decided ? h("span", { class: "move" }, line.decided.policy === "safety" ? `safety: ${line.decided.move}` : STAGES[line.decided.move] || line.decided.move) : null,
        line.assessed ? h("span", { class: `danger danger-${line.assessed.level}` }, LEVELS[line.assessed.level]) : null,
        signed || line.source === "fallback" ? h("span", { class: `source source-${line.source}`, title: line.came_about }, line.author) : null),
      practised(line.practice),
      said(line.text, "p", { class: "prose" }),
      h("details", { ontoggle: why, open: mine && Boolean(state().tour) }, h("summary", {}, "why"),
        line.assessed ? told(line.assessed) : null,
        line.decided ? h("p", { class: "small" }, "Chose ", h("b", {}, STAGES[line.decided.move] || line.decided.move), ` out of ${line.decided.options.map((one) => STAGES[one] || one).join(", ")}: `, said(REASONS[line.decided.reason] || line.decided.reason), h("span", { class: "soft" }, ` (${line.decided.policy})`)) : null,
        behind(line.practice),
        line.recalled ? [h("p", { class: "small" }, "Before it came to mind, at ", said(`“${line.recalled.query}”`), ":"), line.recalled.hits.length ? [termLegend(overview.weights), hits] : h("p", { class: "soft" }, "nothing")] : null,
        h("p", { class: "small soft" }, `The line was ${line.came_about}. `, h("button", { type: "button", class: "plain", onclick: () => show({ panel: "hood", event: line.seq, tick: talk.tick, who: line.who }) }, "the prompt behind it"), after ? [" · ", h("button", { type: "button", class: "plain", onclick: () => { after.scrollIntoView({ block: "center" }); after.focus({ preventScroll: true }); } }, "the scores that followed")] : null)));
  }

  function practised(steps) {
    const told = (steps || []).filter((one) => one.kind !== "noted" && (one.kind !== "reasoned" || one.skills.length)).map((one) => (({
      judged: () => `${one.question}: ${one.verdict} (${one.by}; ${one.reason})`,
      transitioned: () => `${one.protocol === "safety" ? "safety: " : ""}${one.origin ? `${one.origin} → ` : "→ "}${one.state}`,
      reasoned: () => `skill: ${one.skills.join(", ")}`,
      client_shifted: () => `openness ${one.openness.toFixed(1)}${one.openness === one.before ? "" : ` (before ${one.before.toFixed(1)})`}${one.quote ? `; “${one.quote}” touched ${one.about ? `“${one.about.replace(/[.。]$/, "")}”` : "something"}` : ""}`,
      homework_agreed: () => `takes home: ${one.agreed} (“${one.quote}”)`,
      retrieved: () => `${one.of}: ${one.chosen.join(", ") || "none"}, out of ${one.candidates.filter((c) => c.kept).length} that were allowed (${one.reason})`,
    })[one.kind] || (() => foreign(one)))).map((tell) => tell());
    return told.length ? h("p", { class: "small soft practice" }, said(told.join(" · "))) : null;
  }

  /** An event of another package's policy: its kind and its fields as they are. */
  function foreign({ kind, who, calls, fallback, ...fields }) {
    return `${kind}: ${Object.entries(fields).map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ")}`;
  }

  function behind(steps) {
    const notes = (steps || []).filter((one) => one.kind === "noted").map((one) => h("p", { class: "small" }, "Noted: ", said(one.text)));
    const thoughts = (steps || []).filter((one) => one.kind === "reasoned").map((one) => h("p", { class: "small" },
      h("b", {}, "Thought, never said: "), said(`${one.assessment} ${one.client_state} ${one.strategy}`)));
    const kept = (steps || []).filter((one) => one.kind === "client_shifted" && one.held_back).map((one) => h("p", { class: "small" }, h("b", {}, "Kept back: "), said(one.held_back)));
    return [...notes, ...thoughts, ...kept, ...(steps || []).filter((one) => one.kind === "retrieved").map((one) => h("ul", { class: "small" },
      one.candidates.map((c) => h("li", { class: c.kept ? "" : "soft" }, h("b", {}, c.id), c.kept ? ": allowed, " : ": left out, ", said(c.why)))))];
  }

  /** What the counselor planned before a session of a course, and kept of it; the client knows nothing of it. */
  function courseOf(events) {
    if (!events.length) return null;
    const of = (kind) => events.filter((one) => one.kind === kind);
    const list = (items) => items.length ? h("ul", {}, items.map((item) => h("li", {}, item))) : h("p", { class: "soft" }, "none");
    const part = (name, content) => [h("h4", {}, name), content];
    return h("section", { class: "card course-card" }, h("h3", {}, "The counselor's course"),
      of("session_planned").map((one) => [
        h("p", {}, `Session ${one.session}, `, said(one.stage.replaceAll("_", " ")), ": ", said(one.theme)),
        part("Meant to do", list(one.objective.map((text) => said(text)))), h("p", { class: "small soft" }, said(one.reason))]),
      of("material_opened").length ? part("Opened by what was said", list(of("material_opened").map((one) => [
        one.of === "fact" ? "told: " : "", said(one.text), h("span", { class: "small soft" }, said(one.quotes.length ? ` (${one.message ? `line ${one.message}: ` : ""}“${one.quotes.join("”, “")}”)` : ""))]))) : null,
      of("session_reviewed").map((one) => [
        part("Afterwards", h("p", {}, said(one.summary))),
        part("Goals met", list(one.goals.filter((goal) => goal.met).map((goal) => [said(goal.goal), goal.quotes.map((quote) => h("div", { class: "small soft" }, said(`“${quote}”`)))]))),
        h("details", {}, h("summary", {}, `${one.goals.filter((goal) => !goal.met).length} goals not met yet`), list(one.goals.filter((goal) => !goal.met).map((goal) => said(goal.goal)))),
        h("p", { class: "small" }, `Alliance ${one.alliance} of 5. `, said(one.client_state)),
        one.unresolved.length ? part("Left open", list(one.unresolved.map((text) => said(text)))) : null,
        one.homework ? h("p", { class: "small" }, "Until next time: ", said(one.homework)) : null]),
      of("fact_learned").length ? part("Learned", list(of("fact_learned").map((one) => [
        said(one.text), h("span", { class: "small soft" }, said(` (${one.status}, ${one.realm}; “${one.quote}”)${one.contradicts.length ? `, contradicts ${one.contradicts.join(", ")}` : ""}`))]))) : null,
      of("formulated").length ? part("Understood", list(of("formulated").map((one) => [h("b", {}, said(one.field.replaceAll("_", " "))), ": ", said(one.cells.join("; "))]))) : null,
      of("course_advanced").map((one) => part("Next", h("p", {}, said(`${ADVANCE[one.step]}: ${one.focus}`), h("span", { class: "small soft" }, said(` (${one.reason})`))))));
  }

  function takeAway(talk) {
    const forms = [["Text", talk.text, "txt", "text/plain"], ["Markdown", talk.markdown, "md", "text/markdown"], ["JSON", JSON.stringify(talk, null, 1), "json", "application/json"]];
    const copy = async (name, text) => {
      await navigator.clipboard.writeText(text);
      announce(`copied as ${name}`);
    };
    const save = (text, ending, kind) => {
      const url = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
      const link = h("a", { href: url, download: `conversation-${talk.tick}-${timeOf(talk.minute).replace(":", "")}.${ending}` });
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(url), 5000);
    };
    return h("div", { class: "row", role: "group", "aria-label": "Take the conversation away" }, forms.map(([name, text, ending, kind]) => [
      h("button", { type: "button", onclick: () => copy(name, text) }, `Copy ${name}`), h("button", { type: "button", onclick: () => save(text, ending, kind) }, `Download ${name}`),
    ]));
  }

  return { update };
}
