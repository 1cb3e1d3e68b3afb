// Elements without HTML strings: what people and models write is only ever text.
export function h(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else if (key === "value") el.value = value;
    else el.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) el.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return el;
}

/** Paragraphs and lists: blank lines part, "- " begins an item; nothing else is markup. */
export function prose(text) {
  return text.trim().split(/\n\s*\n/).map((part) => {
    const lines = part.split("\n");
    return lines.every((line) => line.startsWith("- ")) ? h("ul", {}, lines.map((line) => h("li", { dir: "auto" }, line.slice(2)))) : h("p", { class: "help", dir: "auto" }, part);
  });
}

/** JSON from the site; {status, ...} with status 0 where there is no connection. */
export async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json", "x-simcounsel": "1" }, body: JSON.stringify(body) };
  try {
    const answer = await fetch(path, options);
    return { status: answer.status, ...(await answer.json()) };
  } catch {
    return { status: 0 };
  }
}

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));
