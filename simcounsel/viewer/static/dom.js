// Elements without HTML strings: text in a run comes from a model and is only ever shown as text, with nothing hidden in it.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "path", "rect", "circle", "line", "text", "title", "polyline", "polygon"]);

/** Make an element: h("p", {class: "note", onclick: f}, "text", other). `dataset`, `aria-*` and attributes alike; false and null leave out. */
export function h(tag, props = {}, ...children) {
  const el = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else if (key === "value") el.value = value;
    else el.setAttribute(key, value === true ? "" : visible(value));
  }
  add(el, children);
  return el;
}

function add(el, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    el.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
}

/** Replace all that is in an element. */
export function fill(el, ...children) {
  el.replaceChildren();
  add(el, children);
  return el;
}

/** Text from a model, with its direction kept to itself. */
export function said(text, tag = "span", props = {}) {
  return h(tag, { dir: "auto", ...props, class: `said ${props.class || ""}`.trim() }, text ?? "");
}

/** Any text as it is shown: control characters as pictures, direction overrides left out, so that nothing hides. */
export function visible(text) {
  return String(text ?? "")
    .replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g, "")
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/\u007f/g, "\u2421");
}

/** Say something to a screen reader, politely. */
export function announce(text) {
  const live = document.getElementById("live");
  if (live) live.textContent = text;
}

/** Words as a sentence: a capital in front, a stop behind. */
export function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}
