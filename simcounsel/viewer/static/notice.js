// What a human who takes part is told: before the first line, and when their own words sound like danger. The first folds once somebody has spoken; the second stays.

import { announce, fill, h, said } from "./dom.js";

/** Two places in `holder`: `before(text)` shows what is told before anything is written, `danger(text)` the banner that stays; `fold()` folds the first. */
export function notices(holder) {
  const first = h("aside", { class: "notice", "aria-label": "Before you take part" });
  const banner = h("div", { class: "notice notice-danger", role: "alert", "aria-label": "Help lines" });
  if (!document.querySelector('link[href="/static/notice.css"]')) document.head.append(h("link", { rel: "stylesheet", href: "/static/notice.css" }));
  first.hidden = banner.hidden = true;
  fill(holder, banner, first);
  return {
    before(text) {
      first.hidden = !text;
      fill(first, h("details", { open: true }, h("summary", {}, "Before you take part"), paragraphs(text)));
    },
    /** Once somebody has taken part they need a line of it, not the whole. */
    fold() { first.querySelector("details")?.removeAttribute("open"); },
    danger(text) {
      if (!text) return;
      put(banner, text);
      banner.scrollIntoView({ block: "nearest" });
      announce(text);
    },
  };
}

function put(place, text) {
  place.hidden = !text;
  fill(place, paragraphs(text));
}

/** A text of several lines with its links. */
export function paragraphs(text) {
  return String(text || "").split("\n").map((line) => h("p", {}, line.split(/(https:\/\/\S+)/).map((part) => part.startsWith("https://") ? h("a", { href: part, target: "_blank", rel: "noreferrer noopener" }, part) : said(part))));
}
