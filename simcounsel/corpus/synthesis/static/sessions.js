// The page of a synthesis: its sessions, each with what was drafted, criticized and revised, and the strategies that were learned.

import { announce, fill, h, said } from "./dom.js";
import { mountHead } from "./head.js";
import { drawSession } from "./session.js";
import { mountShelf } from "./sessionlist.js";
import { bundled, forget, get, path } from "./source.js";
import { mountStrategies } from "./strategies.js";

const POLL_MS = 2000;
const run = bundled ? null : decodeURIComponent(location.pathname.split("/").pop());
const main = document.getElementById("main");
const view = { tab: "session", session: null, line: null, strategy: null };

start().catch((error) => fill(main, h("p", { class: "page warn", role: "alert" }, error.message)));

async function start() {
  let found = await get(run, "sessions");
  document.title = `${found.name || found.run}: simcounsel`;
  const head = mountHead(document.getElementById("head"));
  const problems = h("div", { role: "status" });
  const shelf = mountShelf((name) => { location.hash = name; }, () => ends());
  const tab = (name, to) => h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel", onclick: () => { location.hash = to(); }, onkeydown: arrows });
  const tabs = h("div", { role: "tablist", "aria-label": "What to look at" }, tab("session", () => view.session || "session"), tab("strategies", () => "strategies"));
  const before = h("button", { type: "button", "aria-keyshortcuts": "k", onclick: () => go(-1) }, "Before");
  const next = h("button", { type: "button", "aria-keyshortcuts": "j", onclick: () => go(1) }, "Next");
  const walk = h("div", { class: "row" }, before, next, h("span", { class: "soft small" }, "or keys k and j"));
  const panel = h("section", { id: "panel", role: "tabpanel", tabindex: "-1" });
  fill(main, problems, h("div", { class: "desk" }, shelf.element, h("div", { class: "side" }, h("div", { class: "row above" }, tabs, walk), panel)));
  const strategies = mountStrategies();
  let drawn = "";
  read();
  update();
  await draw();
  addEventListener("hashchange", () => { read(); draw(true); });
  document.addEventListener("keydown", keys);
  document.querySelector(".skip")?.addEventListener("click", (event) => { // the address holds the session, not the panel
    event.preventDefault();
    panel.focus();
  });
  if (!bundled) follow();

  /** The address says what is shown: #S0003, a line of it as #S0003:4, all strategies as #strategies, or one as #K002. */
  function read() {
    const [asked, line] = location.hash.slice(1).split(":");
    view.strategy = /^K\d+$/.test(asked) ? asked : null;
    view.tab = asked === "strategies" || view.strategy ? "strategies" : "session";
    if (/^S\d+$/.test(asked)) view.session = asked;
    view.line = line || null;
    view.session ??= found.sessions[0]?.session ?? null;
  }

  function update() {
    head.update(found);
    fill(problems, found.problems.map((one) => h("p", { class: "warn problem" }, one)));
    shelf.update(found.sessions);
    strategies.update(found);
    fill(tabs.children[0], "Session");
    fill(tabs.children[1], `Strategies (${found.strategies.length})`);
  }

  /** Show what the address asks for. asked: somebody asked for it just now, so that it is announced and scrolled to. */
  async function draw(asked = false) {
    for (const one of tabs.children) {
      const mine = one.id === `tab-${view.tab}`;
      one.setAttribute("aria-selected", String(mine));
      one.tabIndex = mine ? 0 : -1;
    }
    panel.setAttribute("aria-labelledby", `tab-${view.tab}`);
    shelf.mark(view.session);
    walk.hidden = view.tab !== "session";
    ends();
    const shown = view.tab === "strategies" ? "strategies" : view.session;
    try {
      if (view.tab === "strategies") {
        if (drawn !== shown) fill(panel, strategies.element);
        drawn = shown;
      } else await drawOne();
    } catch (error) {
      drawn = "";
      fill(panel, h("p", { class: "warn", role: "alert" }, error.message));
    }
    main.dataset.drawn = shown || "";
    if (asked) announce(view.tab === "strategies" ? `${found.strategies.length} strategies` : panel.querySelector("h2")?.textContent || "");
    if (asked && panel.getBoundingClientRect().top < 0) window.scrollTo(0, window.scrollY + main.querySelector(".side").getBoundingClientRect().top);
    if (view.strategy) strategies.point(view.strategy);
    if (view.line && view.tab === "session") point(view.line);
  }

  function ends() {
    before.disabled = !shelf.beside(view.session, -1);
    next.disabled = !shelf.beside(view.session, 1);
  }

  /** The session; as it stands when nothing in it has changed, so that what is open or focused stays so. */
  async function drawOne() {
    const name = view.session;
    if (!name) return note("Nothing is written yet.");
    if (!found.sessions.some((one) => one.session === name)) {
      return note(`${name} is not among the ${found.sessions.length} sessions that are written${found.sessions.length < (found.sessions_planned ?? 0) ? "; it appears here as soon as its wave is complete" : ""}.`);
    }
    const session = await get(run, path("session", name));
    const now = JSON.stringify(session);
    if (name !== view.session || view.tab !== "session" || drawn === now) return undefined;
    drawn = now;
    return fill(panel, drawSession(session, found, () => get(run, path("asked", name))));
  }

  function note(text) {
    drawn = text;
    return fill(panel, h("p", {}, said(text)));
  }

  function point(line) {
    const there = [...panel.querySelectorAll("[data-message]")].find((one) => one.dataset.message === line);
    for (const one of panel.querySelectorAll(".now")) one.classList.remove("now");
    there?.classList.add("now");
    there?.scrollIntoView({ block: "center" });
  }

  function arrows(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const all = [...tabs.children];
    const to = all[(all.indexOf(event.target) + by + all.length) % all.length];
    to.focus();
    to.click();
    event.preventDefault();
  }

  function keys(event) {
    if (event.target.closest("input, select, textarea") || event.altKey || event.ctrlKey || event.metaKey) return;
    const step = { j: 1, k: -1 }[event.key];
    if (step) go(step);
  }

  function go(step) {
    const name = shelf.beside(view.session, step);
    if (name) location.hash = name;
  }

  /** Watch a synthesis that is still being written. */
  async function follow() {
    for (;;) {
      await new Promise((done) => setTimeout(done, POLL_MS));
      try {
        const now = await (await fetch(`/api/runs/${encodeURIComponent(run)}/size`)).json();
        if (now.size === found.size) continue;
        forget();
        const more = await get(run, "sessions");
        if (more.waves > found.waves) announce(`${more.sessions.length} of ${more.sessions_planned ?? "?"} sessions are written`);
        found = more;
        view.session ??= found.sessions[0]?.session ?? null;
        update();
        await draw();
      } catch {
        // the site may be gone for a moment; the next round tries again
      }
    }
  }
}
