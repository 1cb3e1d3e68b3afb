// What a rater meets beside the items: consent and a few words about themselves, and what somebody says who knows.
import { h, said } from "./dom.js";

/** Whether the rater agreed to take part; true where nothing is asked of them. */
export const consented = (study) => !(study.instrument.consent || study.instrument.about_you.length) || study.given.you?.answers.consent === 1;

/** The page before all others. keep(answers): consent as 1 or 0, each question about oneself by the number of its choice, or null. */
export function aboutYou(study, keep) {
  const { consent, about_you: facts, title } = study.instrument;
  if (study.given.you?.answers.consent === 0) return declined(keep);
  const selects = new Map(facts.map((fact) => [fact.id, h("select", { id: `you-${fact.id}` }, h("option", { value: "" }, "I would rather not say"), fact.choices.map((choice, index) => h("option", { value: index + 1 }, choice)))]));
  const problem = h("p", { class: "warn", role: "alert", hidden: true });
  const send = async (answers) => {
    try {
      await keep(answers);
    } catch (error) {
      problem.hidden = false;
      problem.textContent = `Not saved: ${error.message}. Please try again.`;
    }
  };
  const agree = () => send({ consent: 1, ...Object.fromEntries([...selects].map(([id, select]) => [id, select.value ? Number(select.value) : null])) });
  return h("div", { class: "rate-plain" }, h("h1", { tabindex: -1 }, title),
    consent ? consent.split(/\n\s*\n/).map((part) => h("p", {}, part.replace(/\s+/g, " "))) : null,
    facts.length ? h("section", { class: "card", "aria-labelledby": "you-title" }, h("h2", { id: "you-title" }, "A few words about you"), h("p", { class: "soft small" }, "Asked once; each may be left open."),
      facts.map((fact) => h("p", {}, h("label", { for: `you-${fact.id}` }, fact.text), h("br"), selects.get(fact.id)))) : null,
    problem,
    h("p", { class: "row" }, h("button", { type: "button", class: "main big", onclick: agree }, consent ? "I agree to take part" : "Go on"), consent ? h("button", { type: "button", class: "big", onclick: () => send({ consent: 0 }) }, "I do not take part") : null));
}

function declined(keep) {
  return h("div", { class: "rate-plain" }, h("h1", { tabindex: -1 }, "You do not take part"), h("p", {}, "Thank you for your time. Nothing is kept but that. You can close this page."),
    h("p", {}, h("button", { type: "button", onclick: () => keep({ consent: 1 }) }, "I take part after all")));
}

/** The rater's answers to the example beside those of somebody who knows, and why. */
export function feedbackOn(study, answers, because, go) {
  const mine = study.given.training.answers;
  return h("div", { class: "rate-form", "aria-label": "How it could be rated", role: "group" },
    study.instrument.items.filter((question) => question.id in answers).map((question) => h("section", { class: "card" }, h("h2", {}, said(question.text)),
      h("p", {}, h("b", {}, `You: ${mine[question.id] ?? "cannot say"}`), ` · an expert: ${answers[question.id]}`, h("span", { class: "soft small" }, ` (1 ${question.low}, ${question.points} ${question.high})`)),
      because[question.id] ? said(because[question.id], "p") : null)),
    h("p", {}, "This was to get used to the questions; people differ, and it does not count."),
    h("p", {}, h("button", { type: "button", class: "main big", onclick: go }, "Go on to the first")));
}
