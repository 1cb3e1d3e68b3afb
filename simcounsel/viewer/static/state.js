// The moment that is shown: tick, person, panel and what is open in it, kept in the address so that a link shows the same.

const listeners = new Set();
let current = read();

function read() {
  const fields = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(fields);
}

/** What is shown now, all as text. */
export const state = () => current;

/** Change part of it; null leaves out. `quiet` keeps it out of the browser's history. */
export function show(changes, quiet = false) {
  const next = { ...current };
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === undefined) delete next[key];
    else next[key] = String(value);
  }
  if (JSON.stringify(next) === JSON.stringify(current)) return;
  current = next;
  const hash = `#${new URLSearchParams(next)}`;
  try {
    if (quiet) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
  } catch {
    // too many changes of the address in a second: the page still shows the moment
  }
  tell();
}

/** Be told of every change. */
export function onShow(listener) {
  listeners.add(listener);
}

function tell() {
  for (const listener of listeners) listener(current);
}

addEventListener("popstate", () => {
  current = read();
  tell();
});
