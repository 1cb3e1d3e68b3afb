// The coordinator's page: alerts first, then people; nobody's name, and nobody's arm.
import { ask, h, wait } from "./dom.js";

const main = document.getElementById("main");
const dialog = document.getElementById("dialog");
const BEEP_MS = 20000;
const view = { data: null, sound: null, drafts: new Map() };

function login() {
  const field = h("input", { type: "password", id: "password", autocomplete: "current-password" });
  const problem = h("p", { class: "problem", role: "alert" });
  const send = async (event) => {
    event.preventDefault();
    const answer = await ask("/api/watch/login", { password: field.value });
    if (answer.ok) watch();
    else problem.textContent = answer.error ?? "no connection";
  };
  main.replaceChildren(h("form", { onsubmit: send }, h("h1", {}, "Coordinator"), h("div", { class: "field" }, h("label", { for: "password" }, "Password"), field), problem, h("button", { class: "main" }, "Log in")));
}

async function watch() {
  for (let seq = 0; ; ) {
    const found = await ask(`/api/watch?after=${seq}`);
    if (found.status === 401) return login();
    if (found.status === 200) {
      view.data = found;
      seq = found.seq;
      draw();
    } else {
      document.title = "no connection";
      await wait(3000);
    }
    await wait(500);
  }
}

async function act(body, problem) {
  const answer = await ask("/api/watch/do", body);
  if (answer.status === 200) {
    view.data = answer;
    draw();
  } else if (problem) problem.textContent = answer.error ?? "no connection";
  else alert(answer.error ?? "no connection");
}

const ago = (at) => {
  const minutes = Math.floor((Date.parse(view.data.now) - Date.parse(at)) / 60000);
  return minutes < 1 ? "just now" : minutes < 60 ? `${minutes} min ago` : minutes < 2880 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1440)} days ago`;
};

function draw() {
  const { data } = view;
  const open = data.alerts.filter((one) => !one.acknowledged);
  document.title = open.length ? `(${open.length}) alert` : data.title;
  if (document.activeElement?.closest(".alert form")) return; // not while somebody writes there
  main.replaceChildren(
    h("div", { class: "row" }, h("h1", {}, data.title), sounding(), h("button", { type: "button", onclick: () => confirm(data.paused ? "Let all go on?" : "Pause the trial for everybody?") && act({ do: data.paused ? "go_on" : "pause", code: null }) }, data.paused ? "Let all go on" : "Pause all")),
    ...[data.paused && h("p", { class: "problem" }, "The trial is paused for everybody."), data.moved_days > 0.01 && h("p", { class: "problem" }, `The clock is ${data.moved_days} days ahead: this is a try.`), !data.model.ok && h("p", { class: "problem", role: "alert" }, `${data.model.waiting} wait for an answer: ${data.model.problem}`)].filter(Boolean),
    h("section", { "aria-live": "assertive" }, open.map(alarm)),
    h("ul", { class: "flow" }, Object.entries(data.counts).map(([name, count]) => h("li", {}, h("b", {}, count), name))),
    h("p", { class: "soft" }, `${data.planned} planned; ${data.spent.calls} requests, ${data.spent.usd.toFixed(2)} USD${data.spent.budget_usd === null ? "" : ` of ${data.spent.budget_usd}`}`),
    h("div", { class: "wide-table" }, people()),
    h("details", {}, h("summary", {}, `Alerts that were acknowledged (${data.alerts.length - open.length})`), data.alerts.filter((one) => one.acknowledged).map((one) => h("p", {}, `${one.code}, ${one.at.slice(0, 16)}: ${one.level} ${one.kinds.join(", ")} — ${one.acknowledged.by}: ${one.acknowledged.note}`))),
  );
}

function sounding() {
  return h("button", { type: "button", "aria-pressed": String(Boolean(view.sound)), onclick: () => {
    view.sound = view.sound ? (view.sound.close(), null) : new AudioContext();
    beep();
    draw();
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
setInterval(() => view.data?.alerts.some((one) => !one.acknowledged) && beep(), BEEP_MS);

function alarm(one) {
  const draft = view.drafts.get(one.seq) ?? { by: "", note: "" };
  view.drafts.set(one.seq, draft);
  const field = (key, props) => h("input", { type: "text", value: draft[key], required: true, oninput: (event) => { draft[key] = event.target.value; }, ...props });
  const problem = h("p", { class: "problem", role: "alert" });
  const send = (event) => { event.preventDefault(); document.activeElement.blur(); act({ do: "acknowledge", seq: one.seq, by: draft.by, note: draft.note }, problem); };
  return h("article", { class: "alert" }, h("h2", {}, `${one.code}: ${one.level}${one.kinds.length ? `, ${one.kinds.join(", ").replaceAll("_", "-")}` : ""}`),
    h("p", {}, `${{ line: "In a talk", answer: "In an answer", screen: "In the questions before" }[one.what]}, ${ago(one.at)}. Help lines were shown.`), h("blockquote", { dir: "auto" }, one.text),
    h("div", { class: "row" }, h("button", { type: "button", onclick: () => who(one.code) }, "Who is it?"), h("button", { type: "button", onclick: () => talks(one.code) }, "Read the talk"), h("button", { type: "button", onclick: () => act({ do: "pause", code: one.code }) }, "Pause this person")),
    h("form", { onsubmit: send }, h("label", {}, "Initials", field("by", { maxlength: 20, size: 4 })), h("label", { class: "wide" }, "What was done", field("note", { maxlength: 2000 })), h("button", { class: "main" }, "Acknowledge")), problem);
}

function people() {
  const most = Math.max(1, ...view.data.people.flatMap((one) => one.messages));
  const bars = (messages) => h("span", { class: "bars", role: "img", "aria-label": `messages a day: ${messages.join(", ")}` }, messages.map((count) => h("i", { "data-h": count ? Math.max(1, Math.round((5 * count) / most)) : 0 })));
  const row = (one) => h("tr", { class: one.behind ? "behind" : null }, h("td", {}, one.code), h("td", {}, one.lost ? "lost" : one.stage.replaceAll("_", " ")), h("td", {}, one.day ? `${one.day} of ${one.days}` : "–"), h("td", {}, bars(one.messages)), h("td", {}, one.last ? ago(one.last) : "never"), h("td", {}, one.alerts ? `${one.open_alerts} open of ${one.alerts}` : "–"),
    h("td", {}, h("button", { type: "button", onclick: () => more(one) }, "…")));
  return h("table", {}, h("thead", {}, h("tr", {}, ["code", "where", "day", "messages a day", "last seen", "alerts", ""].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, view.data.people.map(row)));
}

function show(title, ...content) {
  dialog.replaceChildren(h("h2", { id: "dialog-title" }, title), ...content.flat(), h("div", { class: "row" }, h("button", { type: "button", onclick: () => dialog.close() }, "Close")));
  if (!dialog.open) dialog.showModal();
}

function more(one) {
  const button = (label, work) => h("button", { type: "button", onclick: () => { dialog.close(); work(); } }, label);
  show(one.code, h("div", { class: "row" }, button("Who is it?", () => who(one.code)), button("Read the talks", () => talks(one.code)), button(one.paused ? "Let go on" : "Pause", () => act({ do: one.paused ? "go_on" : "pause", code: one.code })), button("Give up as lost", () => act({ do: "lost", code: one.code })),
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
