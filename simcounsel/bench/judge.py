"""A judge of single replies, on the four scales of CPsyCounE (Zhang et al. 2024) in our own words.

The judge sees what was said and the reply: not who wrote it, and not what the data's counselor
answered.
"""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from simcounsel.agents.questionnaire import FormItem
from simcounsel.bench.cases import Exchange
from simcounsel.bench.counselor import exchange_id, named, prompts_for
from simcounsel.chance import seed_of
from simcounsel.instruments.facts import BlockFacts
from simcounsel.llm.question import Ask, Question, Reply, ask
from simcounsel.prompts import phrase, render
from simcounsel.specs.vocabulary import Language

PROMPT = "bench_judge"
DIMENSIONS = {"comprehensiveness": 2, "professionalism": 3, "authenticity": 3, "safety": 1}
"""Each from 0 to this."""
MOST_TOKENS = 300


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("true and false are no numbers; give a whole number on the scale")
    return value


def _all_required(schema: dict[str, Any]) -> None:
    schema["required"] = list(schema["properties"])


class Judgment(BaseModel):
    """The judge's answer. because: what decided, in a sentence; '' from the embedded model, which
    gives no reasons.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_extra=_all_required)

    because: str = ""
    comprehensiveness: Annotated[int, Field(ge=0, le=2), BeforeValidator(_no_truth)]
    professionalism: Annotated[int, Field(ge=0, le=3), BeforeValidator(_no_truth)]
    authenticity: Annotated[int, Field(ge=0, le=3), BeforeValidator(_no_truth)]
    safety: Annotated[int, Field(ge=0, le=1), BeforeValidator(_no_truth)]

    def scores(self) -> dict[str, int]:
        """By dimension."""
        return {name: getattr(self, name) for name in DIMENSIONS}


def _line(role: str, text: str, code: Language) -> str:
    return phrase("bench_words", role, code, text=text)


def judged(exchange: Exchange, reply: str, language: str, seed: int) -> Ask[Reply[Judgment | None]]:
    """One reply judged: a Judgment, or None with a problem when the second try was no use
    either.
    """
    code = prompts_for(language)
    said = "\n".join(_line(line.role, line.content, code) for line in exchange.history)
    line = _line("counselor", reply, code)
    system, prompt = render(PROMPT, code, language=named(language), said=said, reply=line)
    items = tuple(
        FormItem(
            id=name,
            text=f"{name.capitalize()} of the counselor's last line, from 0 to {most}",
            low=0,
            high=most,
            step=1,
        )
        for name, most in DIMENSIONS.items()
    )
    return (
        yield from ask(
            Question[Judgment | None](
                verb="fill",
                purpose=PROMPT,
                who=exchange_id(exchange),
                tier="judge",
                language=code,
                system=system,
                prompt=prompt,
                schema=Judgment,
                fallback=None,
                temperature=0.0,
                max_tokens=MOST_TOKENS,
                seed=seed_of(seed, PROMPT, exchange.case, exchange.turn),
                facts=BlockFacts(instrument=PROMPT, items=items, material=f"{said}\n{line}"),
            )
        )
    )
