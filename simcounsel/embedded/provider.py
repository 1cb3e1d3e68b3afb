"""The embedded ChatModel: a stand-in for each kind of question about talk and days, the small model
itself for `PromptOnly`, and the scripted model's draw for all else.
"""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simcounsel.agents import facts
from simcounsel.agents.tasks import LineAnswer
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.question import Facts, PromptOnly, Question
from simcounsel.prompts import render
from simcounsel.scripted import Scripted
from simcounsel.scripted.registry import Given, StandIns
from simcounsel.texts import sentences

if TYPE_CHECKING:
    from simcounsel.embedded.feelings import Feelings
    from simcounsel.embedded.similarity import Similarity
    from simcounsel.llm.adapter import Adapter
    from simcounsel.llm.llama import Llama

LINE_TOKENS, SENTENCE_TOKENS, TUNED_TOKENS, CONTEXT_TOKENS = 48, 44, 56, 4096


class Embedded:
    """SmolLM2-135M and MiniLM in this process. It answers one request at a time: on two cores that
    is faster than several at once (53 tokens a second alone, 22 with four, 18 with eight).

    plain: no help at all, every request as a chat prompt with a JSON schema; the baseline of
    `tests/benchmarks/embedded_quality.py`. adapter: laid over a second SmolLM2, which speaks for
    counselors (see `tuned`); everything else is as without. Two of them, since one that changes its
    adapter from call to call forgets the prompt it has computed.
    """

    def __init__(self, *, plain: bool = False, adapter: "Adapter | None" = None) -> None:
        self.name = f"embedded+adapter@{adapter.digest}" if adapter else "embedded"
        self._plain = plain
        self._adapter = adapter
        self._tuned: Llama | None = None
        self._lock = threading.Lock()
        self._llama: Llama | None = None
        self._standins = StandIns(self.name)
        self._drawn = Scripted()

    async def complete(self, request: Question[Any], complaint: str | None) -> Completion:
        """Answer once. A second try would answer the same, so it is refused at once. What a model
        this small cannot judge (scales, courses, syntheses) is drawn by the scripted model.
        """
        if not self._plain and request.facts and not self._registered().knows(request.facts):
            return replace(await self._drawn.complete(request, complaint), source="random")
        if complaint is not None and not self._plain:
            raise Failure(complaint)
        return await asyncio.to_thread(self._complete, request, complaint)

    def _complete(self, request: Question[Any], complaint: str | None) -> Completion:
        with self._lock:
            if self._plain:
                return self._as_chat(request, complaint)
            return self._registered().answer(request)

    @property
    def known(self) -> frozenset[type[Facts]]:
        """The kinds of questions for which there is a stand-in."""
        return self._registered().known

    def _registered(self) -> StandIns:
        if not self._standins.known:
            self._register()
        return self._standins

    async def close(self) -> None:
        """Free the models."""
        for model in (self._llama, self._tuned):
            if model is not None:
                model.close()
        self._llama = self._tuned = None

    def _register(self) -> None:
        """All that can be answered without a capable model, by the type of its facts."""
        from simcounsel.embedded.feelings import Feelings
        from simcounsel.embedded.similarity import Similarity
        from simcounsel.llm.embeddings import MiniLM

        similarity = Similarity(MiniLM())
        feelings = Feelings(similarity)
        self._add_residents(similarity, feelings)
        self._add_policies(similarity, feelings)
        self._standins.add(PromptOnly, self._from_prompt)

    def _add_policies(self, similarity: "Similarity", feelings: "Feelings") -> None:
        """What policies and the safety protocol ask."""
        from simcounsel.danger.protection.reading import SafetyAnswerFacts
        from simcounsel.embedded.guided import Guided
        from simcounsel.embedded.moves import choose_move
        from simcounsel.policies.socratic import MoveFacts

        Guided(similarity, feelings).register(self._standins)
        add = self._standins.add
        add(MoveFacts, lambda move, question: choose_move(move, question, similarity))
        add(SafetyAnswerFacts, lambda safety, question: Given(value=question.fallback))

    def _add_residents(self, similarity: "Similarity", feelings: "Feelings") -> None:
        """What a resident's mind asks."""
        from simcounsel.embedded.interviews import Interviews
        from simcounsel.embedded.lines import Lines
        from simcounsel.embedded.slots import choose_day, choose_slots
        from simcounsel.embedded.thoughts import Thoughts
        from simcounsel.embedded.tuned import Tuned

        tuned = Tuned(similarity, self._speak).line if self._adapter else None
        lines = Lines(similarity, feelings, self._new_lines, tuned)
        thoughts = Thoughts(similarity, feelings, self._write)
        add = self._standins.add
        add(facts.LineFacts, lines.line)
        add(facts.DayFacts, lambda day, question: choose_day(day, question, similarity))
        add(
            facts.SlotsFacts,
            lambda slots, question: choose_slots(slots, question, similarity, feelings.feel),
        )
        add(facts.AppraisalFacts, feelings.appraised)
        add(facts.SummaryFacts, thoughts.summary)
        add(facts.SalienceFacts, thoughts.questions)
        add(facts.InsightsFacts, thoughts.insights)
        add(facts.PersonaFacts, thoughts.persona)
        add(facts.SkippedDaysFacts, lambda skipped, question: Given(value=skipped.usual))
        add(facts.InterviewFacts, Interviews(similarity).answer)

    # the language model itself

    def _model(self) -> "Llama":
        if self._llama is None:
            from simcounsel.llm.llama import Llama
            from simcounsel.llm.weights import path_of

            self._llama = Llama(path_of("smollm2"), context_tokens=CONTEXT_TOKENS)
        return self._llama

    def _tuned_model(self) -> "Llama":
        """The second model, with the adapter; the first one where there is none."""
        if self._adapter is None:
            return self._model()
        if self._tuned is None:
            from simcounsel.llm.llama import Llama
            from simcounsel.llm.weights import path_of

            self._tuned = Llama(
                path_of("smollm2"), adapter=self._adapter.file, context_tokens=CONTEXT_TOKENS
            )
        return self._tuned

    def _speak(self, system: str, talk: Sequence[tuple[str, str]], heard: str, seed: int) -> str:
        """The tuned model's answer in a chat; '' when the chat is too long for it."""
        from simcounsel.llm.llama import Chat

        try:
            return (
                self._tuned_model()
                .complete(
                    heard,
                    chat=Chat(system=system, talk=talk),
                    max_tokens=TUNED_TOKENS,
                    temperature=0.7,
                    seed=seed,
                )
                .text
            )
        except Failure:
            return ""

    def _write(self, prompt: str, seed: int, temperature: float) -> str:
        """Go on with a text, to the end of the line."""
        text = (
            self._model()
            .complete(
                prompt, max_tokens=SENTENCE_TOKENS, temperature=temperature, seed=seed, stop=["\n"]
            )
            .text
        )
        return text.strip()

    def _new_lines(
        self, line: facts.LineFacts, question: Question[LineAnswer], count: int
    ) -> list[str]:
        """New lines for a client, in the manner of its hand-written ones; only those fit to be
        said.
        """
        from simcounsel.embedded.texts import speech_fault

        manner = "\n".join(f"{line.me}: {e.text}" for e in question.examples[:4])
        heard = line.heard.text if line.heard else "How are you?"
        _, prompt = render(
            "embedded_line", name=line.me, other=line.other, examples=manner, heard=heard
        )
        texts = [
            sentences.first(
                self._model()
                .complete(
                    prompt,
                    max_tokens=LINE_TOKENS,
                    temperature=0.7,
                    seed=question.seed + k,
                    stop=["\n"],
                )
                .text
            )
            for k in range(count)
        ]
        return [
            text
            for text in dict.fromkeys(texts)
            if speech_fault(text, (line.me, line.other)) is None
        ]

    def _from_prompt(self, facts: PromptOnly, question: Question[Any]) -> Given[str]:
        """The language model itself, for questions that say that they are nothing but a prompt."""
        got = self._as_chat(question, None)
        return Given(
            value=got.text,
            source="generated",
            notes=got.notes,
            tokens_in=got.tokens_in,
            tokens_out=got.tokens_out,
        )

    def _as_chat(self, request: Question[Any], complaint: str | None) -> Completion:
        """The plain way: the prompt as it is, a grammar holds the answer to what fits."""
        from simcounsel.llm.chat import messages
        from simcounsel.llm.llama import Chat

        spoken = messages(request, complaint)
        system = "\n\n".join(m["content"] for m in spoken if m["role"] == "system")
        prompt = "\n\n".join(
            [m["content"] for m in spoken if m["role"] != "system"][len(request.talk) :]
        )
        model = self._tuned_model() if request.purpose == "bench_answer" else self._model()
        got = model.complete(
            prompt,
            chat=Chat(system=system, talk=request.talk),
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            seed=request.seed,
            grammar=_grammar(request),
        )
        cut = {"finish": "length"} if got.end == "length" else {}
        return Completion(
            text=got.text, tokens_in=got.tokens_in, tokens_out=got.tokens_out, notes=cut
        )


def _grammar(request: Question[Any]) -> str | None:
    """Of the answers that fit: the schema's, the options' numbers, or the numbers of the scale,
    which a model this small does not find by itself. None for free text.
    """
    from simcounsel.llm.llama import grammar_of_options, grammar_of_schema

    if request.sent_schema:
        return grammar_of_schema(request.sent_schema)
    low, high = (1, len(request.options)) if request.verb == "choose" else request.scale or (0, -1)
    numbers = tuple(str(number) for number in range(low, high + 1))
    return grammar_of_options(numbers) if numbers else None
