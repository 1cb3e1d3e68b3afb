// The coordinator's page: alerts first, then people; nobody's name, and nobody's arm.
import { ask, h, wait } from "./dom.js";

const main = document.getElementById("main");
const dialog = document.getElementById("dialog");
const BEEP_MS = 20000;
const view = { data: null, sound: null, alarms: new Map(), shown: {}, open: false, ahead_ms: 0 };

function login() {
  const field = h("input", { type: "password", id: "password", autocomplete: "current-password" });
  const problem = h("p", { class: "problem", role: "alert" });
  const send = async (event) => {
    event.preventDefault();
    const answer = await ask("/api/watch/login", { password: field.value });
    if (answer.ok) watch();
    else problem.textContent = answer.error ?? "no connection";
  };
  main.replaceChildren(h("form", { onsubmit: send }, h("h1", {}, "Coordinator"), h("input", { type: "text", autocomplete: "username", value: "coordinator", hidden: true, "aria-hidden": "true" }), h("div", { class: "field" }, h("label", { for: "password" }, "Password"), field), problem, h("button", { class: "main" }, "Log in")));
}

async function watch() {
  for (let seq = 0; ; ) {
    const found = await ask(`/api/watch?after=${seq}`);
    if (found.status === 401) return login();
    if (found.status === 200) {
      seq = found.seq;
      draw(found);
    } else {
      unreached();
      await wait(3000);
    }
    await wait(500);
  }
}

/** Without a connection no alert comes in: that is an alarm, too. */
function unreached() {
  document.title = "(!) no connection";
  const box = document.getElementById("unreached");
  if (!box?.hidden) return;
  box.hidden = false;
  beep();
}

async function act(body, problem) {
  const answer = await ask("/api/watch/do", body);
  if (answer.status === 200) draw(answer);
  else if (problem) problem.textContent = answer.error ?? "no connection";
  else alert(answer.error ?? "no connection");
}

/** How long ago, by the site's clock; it counts up by itself. */
function ago(at) {
  const seconds = Math.max(0, Math.floor((Date.now() + view.ahead_ms - Date.parse(at)) / 1000)), minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${String(seconds % 60).padStart(2, "0")} min ago`;
  return minutes < 2880 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min ago` : `${Math.floor(minutes / 1440)} days ago`;
}
const since = (at) => h("time", { datetime: at, class: "since" }, ago(at));
setInterval(() => document.querySelectorAll("time.since").forEach((one) => { one.textContent = ago(one.getAttribute("datetime")); }), 1000);

function draw(data) {
  Object.assign(view, { data, ahead_ms: Date.parse(data.now) - Date.now() });
  if (!document.getElementById("alerts")) {
    view.alarms.clear();
    main.replaceChildren(h("div", { id: "head" }), h("p", { id: "unreached", class: "problem", role: "alert", hidden: true }, "No connection to the site: no alert can come in. Please look after it."), h("section", { id: "alerts", "aria-live": "assertive", "aria-label": "Open alerts" }), h("div", { id: "rest" }));
  }
  document.getElementById("unreached").hidden = true;
  const open = data.alerts.filter((one) => !one.acknowledged);
  document.title = open.length ? `(${open.length}) alert` : data.title;
  alarms(open);
  anew("head", [data.paused, data.moved_days, data.model, Boolean(view.sound)], head);
  anew("rest", [data.counts, data.spent, data.people, data.alerts], () => [flow(), people(), done()]);
}

/** A part of the page again, where what it shows has changed; the focus stays. */
function anew(id, shown, make) {
  const part = document.getElementById(id), key = JSON.stringify(shown);
  if (view.shown[id] === key && part.firstChild) return;
  view.shown[id] = key;
  const focus = part.contains(document.activeElement) ? document.activeElement.id : "";
  part.replaceChildren(...make().filter(Boolean));
  if (focus) document.getElementById(focus)?.focus();
}

/** Open alerts, the newest first; those that are there stay as they are, with what is written in them. */
function alarms(open) {
  const seqs = new Set(open.map((one) => one.seq));
  for (const [seq, node] of view.alarms) if (!seqs.has(seq)) { node.remove(); view.alarms.delete(seq); }
  const fresh = open.filter((one) => !view.alarms.has(one.seq)).reverse();
  for (const one of fresh) {
    view.alarms.set(one.seq, alarm(one));
    document.getElementById("alerts").prepend(view.alarms.get(one.seq));
  }
  if (fresh.length) beep();
}

function head() {
  const { data } = view;
  const all = () => confirm(data.paused ? "Let all go on?" : "Pause the trial for everybody?") && act({ do: data.paused ? "go_on" : "pause", code: null });
  const leave = async () => { await ask("/api/watch/logout", {}); location.reload(); };
  return [
    h("div", { class: "row" }, h("h1", {}, data.title), sounding(), h("button", { type: "button", id: "all", onclick: all }, data.paused ? "Let all go on" : "Pause all"), h("button", { type: "button", id: "leave", onclick: leave }, "Log out")),
    !view.sound && h("p", { class: "soft" }, "Alerts make no sound until you turn it on."),
    data.paused && h("p", { class: "problem" }, "The trial is paused for everybody."), data.moved_days > 0.01 && h("p", { class: "problem" }, `The clock is ${data.moved_days} days ahead: this is a try.`),
    !data.model.ok && h("p", { class: "problem", role: "alert" }, `${data.model.waiting} wait for an answer: ${data.model.problem}`),
  ];
}

function flow() {
  const { counts, spent, planned } = view.data;
  const beside = { consented: ["declined"], allocated: ["excluded"], done: ["withdrawn", "lost"] };
  const usd = spent.usd === null ? "price unknown" : `${spent.usd.toFixed(2)} USD`;
  const box = (name) => h("li", {}, h("b", {}, counts[name]), name, (beside[name] ?? []).filter((one) => counts[one]).map((one) => h("small", {}, `${counts[one]} ${one}`)));
  return h("div", {}, h("ol", { class: "flow" }, ["invited", "consented", "allocated", "done"].map(box)), h("p", { class: "soft" }, `${planned} planned; ${spent.calls} requests, ${usd}${spent.budget_usd === null ? "" : ` of ${spent.budget_usd}`}`));
}

function done() {
  const past = view.data.alerts.filter((one) => one.acknowledged);
  const box = h("details", { open: view.open, ontoggle: () => { view.open = box.open; } }, h("summary", { id: "past" }, `Alerts that were acknowledged (${past.length})`), past.map((one) => h("p", { dir: "auto" }, `${one.code}, ${one.at.slice(0, 16)}: ${one.level} ${one.kinds.join(", ")}: “${one.text}” (${one.acknowledged.by}: ${one.acknowledged.note})`)));
  return box;
}

function sounding() {
  return h("button", { type: "button", id: "sound", "aria-pressed": String(Boolean(view.sound)), onclick: () => {
    view.sound = view.sound ? (view.sound.close(), null) : new AudioContext();
    beep();
    draw(view.data);
  } }, view.sound ? "Sound is on" : "Turn sound on");
}

function beep() {
  if (!view.sound) return;
  for (const [at, pitch] of [[0, 880], [0.25, 660]]) {
    const tone = view.sound.createOscillator();
    tone.frequency.value = pitch;
    tone.connect(view.sound.destination);
    tone.start(view.sound.currentTime + at);
    tone.stop(view.sound.currentTime + at + 0.2);
  }
}
setInterval(() => (view.alarms.size || document.getElementById("unreached")?.hidden === false) && beep(), BEEP_MS);

function alarm(one) {
  const by = h("input", { type: "text", required: true, maxlength: 20, size: 4 }), note = h("input", { type: "text", required: true, maxlength: 2000 });
  const problem = h("p", { class: "problem", role: "alert" });
  const send = (event) => { event.preventDefault(); act({ do: "acknowledge", seq: one.seq, by: by.value, note: note.value }, problem); };
  return h("article", { class: "alert" }, h("h2", {}, `${one.code}: ${one.level}${one.kinds.length ? `, ${one.kinds.join(", ").replaceAll("_", "-")}` : ""}`),
    h("p", {}, `${{ line: "In a talk", answer: "In an answer", screen: "In the questions before" }[one.what]}, `, since(one.at), one.help_shown ? ". Help lines were shown." : ". No help lines were shown."), h("blockquote", { dir: "auto" }, one.text),
    h("div", { class: "row" }, h("button", { type: "button", onclick: () => who(one.code) }, "Who is it?"), h("button", { type: "button", onclick: () => talks(one.code) }, "Read the talk"), h("button", { type: "button", onclick: () => act({ do: "pause", code: one.code }) }, "Pause this person")),
    h("form", { onsubmit: send }, h("label", {}, "Initials", by), h("label", { class: "wide" }, "What was done", note), h("button", { class: "main" }, "Acknowledge")), problem);
}

function people() {
  const most = Math.max(1, ...view.data.people.flatMap((one) => one.messages));
  const bars = (messages) => h("span", { class: "bars", role: "img", "aria-label": `messages a day: ${messages.join(", ")}` }, messages.map((count) => h("i", { "data-h": count ? Math.max(1, Math.round((5 * count) / most)) : 0 })));
  const row = (one) => h("tr", { class: one.behind ? "behind" : null }, h("td", {}, one.code), h("td", {}, one.lost ? "lost" : one.paused ? "paused" : one.stage.replaceAll("_", " ")), h("td", {}, one.day ? `${one.day} of ${one.days}` : "–"), h("td", {}, bars(one.messages)), h("td", {}, one.last ? since(one.last) : "never"), h("td", {}, one.alerts ? `${one.open_alerts} open of ${one.alerts}` : "–"),
    h("td", {}, h("button", { type: "button", id: `more-${one.code}`, "aria-label": `More about ${one.code}`, onclick: () => more(one) }, "…")));
  return h("div", { class: "wide-table", tabindex: 0, role: "region", "aria-label": "Participants" }, h("table", {}, h("thead", {}, h("tr", {}, ["code", "where", "day", "messages a day", "last seen", "alerts", "more"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, view.data.people.map(row))));
}

function show(title, ...content) {
  dialog.replaceChildren(h("h2", { id: "dialog-title" }, title), ...content.flat(), h("div", { class: "row" }, h("button", { type: "button", onclick: () => dialog.close() }, "Close")));
  if (!dialog.open) dialog.showModal();
}

function more(one) {
  const button = (label, work) => h("button", { type: "button", onclick: () => { dialog.close(); work(); } }, label);
  show(one.code, one.behind && h("p", {}, "Missed the talk of a day."), h("div", { class: "row" }, button("Who is it?", () => who(one.code)), button("Read the talks", () => talks(one.code)), button(one.paused ? "Let go on" : "Pause", () => act({ do: one.paused ? "go_on" : "pause", code: one.code })), button("Give up as lost", () => confirm(`Give up ${one.code} as lost?`) && act({ do: "lost", code: one.code })),
    button("Withdraw, keep the data", () => confirm(`Withdraw ${one.code}?`) && act({ do: "withdraw", code: one.code, delete: false })), button("Withdraw, delete all", () => confirm(`Delete all that ${one.code} gave? This cannot be undone.`) && act({ do: "withdraw", code: one.code, delete: true }))));
}

async function who(code) {
  if (!confirm(`Look up who ${code} is? This is written into the log.`)) return;
  const found = await ask(`/api/watch/contact/${code}`);
  show(code, h("p", {}, found.contact ?? "No address is known."), found.link && h("p", { class: "soft" }, `Link: ${location.origin}${found.link}`));
}

async function talks(code) {
  if (!confirm(`Read what ${code} wrote? This is written into the log.`)) return;
  const found = await ask(`/api/watch/talk/${code}`);
  show(code, (found.days ?? []).map((day) => [h("h3", {}, `Day ${day.day}`), day.lines.map((line) => h("p", { dir: "auto" }, h("b", {}, line.who === "me" ? "Participant: " : "Program: "), line.text))]));
}

watch();
