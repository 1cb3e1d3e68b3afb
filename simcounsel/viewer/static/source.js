// Where data comes from: the site, or the file itself when it was written by `view --html`.

const held = document.getElementById("data");
const inside = held ? JSON.parse(held.textContent) : null;
const kept = new Map();
const MOST_KEPT = 240;

/** Whether the page is a single file, without a server. */
export const bundled = inside !== null;

/** Data about a run by its path, such as "person/Ines". Rejects with words fit to be shown. */
export async function get(run, path) {
  if (inside) {
    if (path in inside) return inside[path];
    throw new Error("This file does not hold that part; open the run with `simcounsel view` to see it.");
  }
  const url = run === null ? `/api/${path}` : `/api/runs/${encodeURIComponent(run)}/${path}`;
  if (!kept.has(url)) {
    if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value);
    kept.set(url, ask(url));
    kept.get(url).catch(() => kept.delete(url));
  }
  return kept.get(url);
}

/** Forget what was fetched: the run has grown. */
export function forget() {
  kept.clear();
}

async function ask(url) {
  let answer;
  try {
    answer = await fetch(url, { headers: { accept: "application/json" } });
  } catch {
    throw new Error("The site does not answer any more. Was `simcounsel view` stopped?");
  }
  if (!answer.ok) throw new Error((await answer.text()) || `The site answered ${answer.status}.`);
  return answer.json();
}

/** A part of an address. */
export const part = encodeURIComponent;

/** A path as `get` wants it, its parts encoded unless the page is a file. */
export function path(...parts) {
  return parts.map((one) => (inside ? String(one) : encodeURIComponent(one))).join("/");
}
