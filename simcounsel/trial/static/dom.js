// Elements without HTML strings: what people and models write is only ever text.
const NUMBER = /\+?\d[\d -]+\d/g;
const WRITTEN_TO = /text|sms|پیامک|短信|发/i;
const ANSWER_MS = 35000;

export function h(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else if (key === "value") el.value = value;
    else el.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false && child !== "") el.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return el;
}

/** Text whose telephone numbers can be called: `Name: 116 123`. Numbers to write to stay text. */
export function dialed(text) {
  return text.split("\n").flatMap((line, at) => {
    const parts = [at ? "\n" : ""];
    let from = line.search(/[:：]/) + 1;
    parts.push(line.slice(0, from));
    for (const { 0: number, index } of from ? [...line.matchAll(NUMBER)] : []) {
      const digits = number.replace(/\D/g, "");
      if (index < from || digits.length < 3 || (digits.length < 7 && number.includes("-"))) continue;
      const before = line.slice(from, index);
      parts.push(before, WRITTEN_TO.test(before) ? number : h("a", { href: `tel:${number.replace(/[ -]/g, "")}`, dir: "ltr" }, number));
      from = index + number.length;
    }
    return [...parts, line.slice(from)];
  });
}

/** Right to left where there is any Farsi, though a Latin name comes first. */
export const way = (text) => (/[\u0600-\u06ff]/.test(text) ? "rtl" : "auto");

/** Paragraphs and lists: blank lines part, "- " begins an item; nothing else is markup. */
export function prose(text) {
  return text.trim().split(/\n\s*\n/).map((part) => {
    const lines = part.split("\n");
    return lines.every((line) => line.startsWith("- ")) ? h("ul", {}, lines.map((line) => h("li", { dir: way(line) }, line.slice(2)))) : h("p", { class: "help", dir: way(part) }, dialed(part));
  });
}

/** JSON from the site; {status, ...} with status 0 where there is no connection. */
export async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json", "x-simcounsel": "1" }, body: JSON.stringify(body) };
  try {
    const answer = await fetch(path, { ...options, signal: AbortSignal.timeout?.(ANSWER_MS) });
    return { status: answer.status, ...(await answer.json()) };
  } catch {
    return { status: 0 };
  }
}

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));
/** The same, but no longer than until there is a connection again. */
export const pause = (ms) => Promise.race([wait(ms), new Promise((done) => addEventListener("online", done, { once: true }))]);
