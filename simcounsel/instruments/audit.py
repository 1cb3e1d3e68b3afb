"""An audit: yes-or-no questions about a conversation that lead on by their answers, and words
quoted as proof.

A yes counts only with a quote that is in the conversation, in a line of whoever the item names;
without, the item is not answered, and the reason says so. What code can find by itself (a promise
of secrecy, a help line) is not left to the judge, who is asked where code finds nothing or is not
certain. A fault is never averaged away: each question is asked once, at temperature 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model

from simcounsel.chance import seed_of
from simcounsel.events import ItemAnswer
from simcounsel.instruments.audit_quotes import Lines, stands_in
from simcounsel.instruments.collecting import Answers, wrong_again
from simcounsel.instruments.facts import AuditFacts
from simcounsel.instruments.forms import all_required
from simcounsel.instruments.kind import AuditRules
from simcounsel.instruments.material import Material
from simcounsel.instruments.wording import worded, worded_items
from simcounsel.llm.question import Ask, Question, Reply, ask
from simcounsel.prompts import phrase, render
from simcounsel.registry import Registry
from simcounsel.specs.items import Item
from simcounsel.specs.scale import Scale

AUDIT_RULES: Registry[AuditRules] = Registry(
    "simcounsel.audit_rules", "rules for audits", AuditRules, {}
)


class Finding(BaseModel):
    """An answer to one question."""

    model_config = ConfigDict(
        extra="ignore", str_strip_whitespace=True, json_schema_extra=all_required
    )
    quote: str = Field(
        default="",
        description=(
            "for a yes: words out of the conversation that prove it, exactly as they stand there;"
            " empty for a no"
        ),
    )
    because: str = Field(default="", description="in one short sentence, what decides")
    answer: Annotated[
        Literal["yes", "no"] | None, WithJsonSchema({"type": "string", "enum": ["yes", "no"]})
    ] = None


@dataclass(frozen=True, kw_only=True)
class _Read:
    """What the judge's answer to one question comes to."""

    answer: ItemAnswer
    mendable: bool = False
    """Whether asking again may help: it is a yes whose proof does not stand."""


def audit(scale: Scale, who: str, material: Material, *key: object) -> Ask[Answers]:
    """Every item's answer, in the scale's order. Items that the answers do not lead to have none,
    and say on what.
    """
    found: dict[str, ItemAnswer] = {}
    replies: list[Reply[Any]] = []
    code = [AUDIT_RULES.load(plugin) for plugin in AUDIT_RULES.plugins()]
    clear = sorted({place for one in code for place in one.places(material.lines)})
    rules = {name: rule for one in code for name, rule in one.rules.items()}
    while due := _due(scale, found):
        places = clear or _proved(scale, found, material.lines)
        for item in due:
            rule = rules.get(item.rule or "")
            if rule is not None and (quote := rule(material.lines, places)):
                found[item.id] = ItemAnswer(id=item.id, value=1.0, quote=quote)
        rest = tuple(item for item in due if item.id not in found)[: scale.block]
        if rest:
            found |= yield from _judged(scale, who, material, rest, key, replies)
    return Answers(
        items=tuple(found.get(item.id) or _not_asked(scale, item, found) for item in scale.items),
        replies=tuple(replies),
    )


def _proved(scale: Scale, found: Mapping[str, ItemAnswer], lines: Lines) -> list[int]:
    """The first line with the judge's proof of danger, where code heard none."""
    asked = [
        item
        for item in scale.items
        if item.rule == "danger" and item.id in found and found[item.id].quote
    ]
    return [
        at
        for at, line in enumerate(lines)
        if any(stands_in(found[item.id].quote or "", item, (line,)) for item in asked)
    ][:1]


def _due(scale: Scale, found: Mapping[str, ItemAnswer]) -> tuple[Item, ...]:
    answers = {name: one.value for name, one in found.items()}
    return tuple(
        item for item in scale.items if item.id not in found and scale.reached(item, answers)
    )


def _not_asked(scale: Scale, item: Item, found: Mapping[str, ItemAnswer]) -> ItemAnswer:
    assert item.when is not None
    before = found.get(item.when.item)
    how = (
        "was not asked"
        if before is not None and before.absent == "not applicable"
        else "was not answered"
        if before is None or before.value is None
        else f"was answered {'yes' if before.value else 'no'}"
    )
    led = before is not None and before.absent != "missing"
    return ItemAnswer(
        id=item.id,
        value=None,
        reason=f"not asked, since {item.when.item} {how}",
        absence="not applicable" if led else "missing",
    )


# what the judge says


def _judged(
    scale: Scale,
    who: str,
    material: Material,
    items: tuple[Item, ...],
    key: tuple[object, ...],
    replies: list[Reply[Any]],
) -> Ask[dict[str, ItemAnswer]]:
    """The items asked at once, and those without proof a second time. What comes goes to
    `replies`.
    """
    reply = yield from ask(_question(scale, who, material, items, "", key))
    replies.append(reply)
    read = {item.id: _read(item, reply, material.lines) for item in items}
    wrong = tuple(item for item in items if read[item.id].mendable)
    if wrong:
        reasons = {item.id: read[item.id].answer.reason or "" for item in wrong}
        again = wrong_again(reasons, material.language)
        reply = yield from ask(_question(scale, who, material, wrong, again, key))
        replies.append(reply)
        read |= {item.id: _read(item, reply, material.lines) for item in wrong}
    return {name: one.answer for name, one in read.items()}


def _read(item: Item, reply: Reply[BaseModel | None], lines: Lines) -> _Read:
    if reply.value is None:
        return _Read(answer=_open(item, f"no usable answer: {reply.problem}"))
    given: Finding | None = getattr(reply.value, item.id, None)
    if given is None or given.answer is None:
        return _Read(answer=_open(item, "no answer"))
    if given.answer == "no":
        return _Read(answer=ItemAnswer(id=item.id, value=0.0))
    if not stands_in(given.quote, item, lines):
        whose = f" in a line of the {item.by}" if item.by else ""
        reason = f"its proof is not in the conversation{whose}: “{given.quote[:80]}”"
        return _Read(answer=_open(item, reason), mendable=True)
    return _Read(answer=ItemAnswer(id=item.id, value=1.0, quote=given.quote))


def _open(item: Item, reason: str) -> ItemAnswer:
    return ItemAnswer(id=item.id, value=None, reason=reason, absence="missing")


def _with_proof(item: Item, language: str) -> str:
    if not item.by:
        return item.text
    return phrase("scale_words", f"proof {item.by}", language, text=item.text)


def _question(
    scale: Scale,
    who: str,
    material: Material,
    items: tuple[Item, ...],
    again: str,
    key: tuple[object, ...],
) -> Question[BaseModel | None]:
    language = material.language
    spoken = worded_items(scale, items, language)
    listed = "\n".join(f"{item.id}. {_with_proof(item, language)}" for item in spoken)
    system, prompt = render(
        "judge_audit",
        material.language,
        material=material.text(),
        instruction=worded(scale, language).instruction,
        items=listed,
        again=again,
    )
    return Question(
        verb="fill",
        purpose="judge_audit",
        who=who,
        tier="judge",
        system=system,
        prompt=prompt,
        language=material.language,
        schema=_answers(items),
        fallback=None,
        temperature=0.0,
        max_tokens=60 + 110 * len(items),
        seed=seed_of(*key, scale.id, items[0].id, bool(again)),
        facts=AuditFacts(instrument=scale.id, items=tuple(item.id for item in items)),
    )


def _answers(items: tuple[Item, ...]) -> type[BaseModel]:
    parts: dict[str, Any] = {item.id: (Finding | None, None) for item in items}
    model: type[BaseModel] = create_model(
        "Findings", __config__=ConfigDict(extra="ignore", json_schema_extra=all_required), **parts
    )
    return model
