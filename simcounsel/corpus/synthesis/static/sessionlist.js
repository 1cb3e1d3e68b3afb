// The list of sessions. Each is drawn once, and only what is in sight is laid out, so that thousands stay quick.

import { fill, h, said } from "./dom.js";

const BLOCK = 60; // so many sessions are laid out, or left out of sight, together
const ROW_REM = 3.61; // about the height of one

export const words = (name) => String(name ?? "").replaceAll("_", " ");

/** Build the list; `open` is called with the session that is chosen, `filtered` when others are in the list than before. */
export function mountShelf(open, filtered) {
  const rows = new Map(); // by the session's name: {session, text, row, button, index}
  let order = [];
  const themes = h("select", { "aria-label": "Theme", onchange: choose });
  const revised = h("input", { type: "checkbox", onchange: choose });
  const count = h("p", { class: "soft small", role: "status" });
  const list = h("div", { class: "list", role: "list", onkeydown: arrows });
  const element = h("nav", { class: "shelf", "aria-label": "Sessions" }, h("div", { class: "row" }, themes, h("label", { class: "small" }, revised, "revised only")), count, list);
  let current = null;
  let reached = null;
  fill(themes, h("option", { value: "" }, "all themes"));
  return { element, update, mark, beside };

  /** Take in sessions: new ones are added, changed ones redrawn, others stay as they are, and so does the focus. */
  function update(sessions) {
    if (order.some((known, index) => known.session.session !== sessions[index]?.session)) clear(); // a resume dropped some
    for (const session of sessions) {
      const text = `wave ${session.wave} · ${session.messages === null ? "its end is missing" : `${session.messages} lines`}${session.revised ? `, ${session.revised} revised` : ""}`;
      const known = rows.get(session.session) || added(session.session);
      if (known.text !== text) fill(known.button, h("strong", {}, session.session), " ", said(words(session.theme) || "theme unknown"), h("div", { class: "soft small" }, text));
      Object.assign(known, { session, text });
    }
    offer(new Set(sessions.map((one) => one.theme).filter(Boolean)));
    filter();
  }

  function clear() {
    fill(list);
    rows.clear();
    order = [];
  }

  function added(name) {
    const button = h("button", { type: "button", class: "one", tabindex: "-1", onclick: () => open(name) });
    const known = { button, row: h("div", { role: "listitem" }, button), index: order.length };
    if (known.index % BLOCK === 0) list.append(h("div", { class: "block", role: "none" }));
    list.lastChild.append(known.row);
    rows.set(name, known);
    order.push(known);
    return known;
  }

  function offer(found) {
    const there = [...themes.options].map((option) => option.value);
    if (there.length === found.size + 1 && there.every((theme) => !theme || found.has(theme))) return;
    const chosen = themes.value;
    fill(themes, h("option", { value: "" }, "all themes"), [...found].sort().map((theme) => h("option", { value: theme }, words(theme))));
    themes.value = found.has(chosen) ? chosen : "";
  }

  function choose() {
    filter();
    filtered();
  }

  function filter() {
    const shown = new Map();
    for (const { session, row } of order) {
      row.hidden = Boolean((themes.value && session.theme !== themes.value) || (revised.checked && !session.revised));
      if (!row.hidden) shown.set(row.parentNode, (shown.get(row.parentNode) || 0) + 1);
    }
    for (const block of list.children) {
      block.hidden = !shown.has(block);
      block.style.containIntrinsicSize = `auto ${(shown.get(block) || 0) * ROW_REM}rem`;
    }
    const sum = [...shown.values()].reduce((all, one) => all + one, 0);
    const text = !order.length ? "No wave is complete yet." : !sum ? "No session like that." : sum === order.length ? `${sum} sessions` : `${sum} of ${order.length} sessions`;
    if (count.textContent !== text) fill(count, text);
    reach();
  }

  /** The list is one stop of the Tab key: the session that is shown or, when it is filtered out, the first that is not. */
  function reach() {
    const known = rows.get(current);
    const to = known && !known.row.hidden ? known : order.find((one) => !one.row.hidden);
    if (reached) reached.tabIndex = -1;
    reached = to ? to.button : null;
    if (reached) reached.tabIndex = 0;
  }

  /** Mark the session that is shown, and bring it into sight within the list. */
  function mark(name) {
    rows.get(current)?.button.removeAttribute("aria-current");
    const moved = name !== current;
    current = name;
    reach();
    const known = rows.get(name);
    if (!known) return;
    known.button.setAttribute("aria-current", "true");
    if (moved && !known.row.hidden) reveal(known.row, 4);
  }

  /** Scroll to a row. What was out of sight was as high as was guessed: after it is laid out, look again. */
  function reveal(row, tries) {
    const [box, around] = [row.getBoundingClientRect(), list.getBoundingClientRect()];
    const end = around.top + box.height < innerHeight ? Math.min(around.bottom, innerHeight) : around.bottom; // the list may reach below the window
    const by = box.top < around.top ? box.top - around.top : Math.max(0, box.bottom - end);
    if (!by) return;
    list.scrollTop += by;
    if (tries) requestAnimationFrame(() => reveal(row, tries - 1));
  }

  function next(index, step) {
    let to = index + step;
    while (order[to]?.row.hidden) to += step;
    return order[to] || null;
  }

  /** The session before (-1) or after (1) another among those in the list; null at its ends. */
  function beside(name, step) {
    return rows.has(name) ? next(rows.get(name).index, step)?.session.session ?? null : null;
  }

  function arrows(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const name = event.target.querySelector("strong")?.textContent;
    if (!step || !rows.has(name)) return;
    next(rows.get(name).index, step)?.button.focus();
    event.preventDefault();
  }
}
