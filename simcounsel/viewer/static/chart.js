// Every chart of these pages, drawn by Observable Plot: SVG, so that each mark has a name for a screen reader, is reached by keyboard, and takes its colors from the page in light and dark.

import { fill, h, visible } from "./dom.js";
import "./d3.min.js";
import "./plot.min.js";

/** Observable Plot, as its documentation names it. */
export const Plot = globalThis.Plot;
const LABEL_PX = 11; // of axes and marks; charts are drawn at the width they are shown at, so that it stays so

/** A figure that draws itself anew at the width it has: `make(width)` gives the picture, as `svg` makes it. `draw()` of what is given back draws it anew with other data. */
export function chart(make, props = {}) {
  const box = h("div", { ...props, class: `chart ${props.class || ""}`.trim() });
  let drawn = 0;
  const draw = (force = false) => {
    const width = Math.floor(box.clientWidth);
    if (!width || (!force && width === drawn)) return;
    drawn = width;
    fill(box, make(width));
  };
  new ResizeObserver(() => draw()).observe(box);
  return Object.assign(box, { draw: () => draw(true) });
}

/** One picture: `options` of `Plot.plot`, with `ariaLabel` for what it says in words. Without Plot's own style element, which the content security policy forbids (`style.css` says the same), and without its names of groups, which are none for a screen reader: give a mark a `className` to find it by. */
export function svg(options) {
  const drawn = Plot.plot({ className: "plot", ...options, style: { fontSize: `${LABEL_PX}px`, ...options.style } });
  for (const one of drawn.querySelectorAll("style")) one.remove();
  for (const one of drawn.querySelectorAll("g[aria-label]")) one.removeAttribute("aria-label");
  drawn.setAttribute("role", "img");
  return drawn;
}

/** Make marks of a picture into buttons, in their order one stop of the tab key with arrows between them. `selector` finds them, such as `.talk > *` for a mark of that className; `press(index)` at a click, Enter or space; `named(index)` is what a screen reader says. Plot leaves each mark's place in the data with it. */
export function pressable(drawn, selector, named, press) {
  const marks = [...drawn.querySelectorAll(selector)];
  if (marks.length) drawn.setAttribute("role", "group");
  marks.forEach((mark, place) => {
    const index = mark.__data__;
    mark.setAttribute("tabindex", place ? "-1" : "0");
    mark.setAttribute("role", "button");
    mark.setAttribute("aria-label", visible(named(index)));
    mark.classList.add("pressable");
    mark.addEventListener("click", () => press(index));
    mark.addEventListener("keydown", (event) => {
      const to = { ArrowRight: place + 1, ArrowDown: place + 1, ArrowLeft: place - 1, ArrowUp: place - 1, Home: 0, End: marks.length - 1 }[event.key];
      if (to === undefined && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation(); // arrows move time elsewhere on the page
      if (to === undefined) {
        press(index);
        return;
      }
      const next = marks[Math.min(marks.length - 1, Math.max(0, to))];
      for (const one of marks) one.setAttribute("tabindex", one === next ? "0" : "-1");
      next.focus();
    });
  });
  return drawn;
}
