"""All rules over all dialogues."""

from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches

from simcounsel.corpus.checks import (
    contradiction,
    identifying,
    language,
    leaks,
    lists,
    overlap,
    risk,
    roles,
    shape,
    templates,
)
from simcounsel.corpus.checks.findings import Checked, Finding
from simcounsel.corpus.checks.rules import Limits, Rule
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.errors import CorpusError

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        shape.empty_corpus,
        shape.repeated_id,
        shape.single_speaker,
        shape.repeated_speaker,
        shape.ends_on_client,
        shape.empty_turn,
        shape.overlong_turn,
        shape.too_short,
        lists.list_like,
        templates.templated,
        overlap.near_duplicate,
        overlap.split_leak,
        roles.role_reversal,
        contradiction.contradiction,
        risk.unaddressed_risk,
        language.language,
        identifying.identifying,
        leaks.leak,
    )
}
"""By name, in the order in which findings are given."""


def check_dialogues(
    dialogues: Sequence[Dialogue],
    *,
    rules: Collection[str] | None = None,
    skip: Collection[str] = (),
    splits_known: bool = True,
    limits: Limits | None = None,
    on_rule: Callable[[str, int, int], None] | None = None,
) -> Checked:
    """Look through a corpus. The same dialogues give the same findings in the same order.

    rules: the names of those to apply, all if None; skip: those to leave out. splits_known: whether
    `Dialogue.split` is to be believed; if not, nothing is said about leaks between splits. on_rule:
    told which rule begins, how many are done, of how many. CorpusError: no rule of such a name.
    """
    chosen = chosen_rules(rules, skip)
    corpus = (
        tuple(dialogues)
        if splits_known
        else tuple(dialogue.model_copy(update={"split": None}) for dialogue in dialogues)
    )
    place = {dialogue.id: number for number, dialogue in enumerate(corpus)}
    found: list[tuple[int, int, Finding]] = []
    for order, rule in enumerate(chosen):
        if on_rule:
            on_rule(rule.name, order, len(chosen))
        for finding in rule.find(corpus, limits or Limits()):
            found.append(
                (-1 if finding.dialogue is None else place[finding.dialogue], order, finding)
            )
    found.sort(key=lambda entry: (entry[0], entry[1], entry[2].turn or 0, entry[2].span or (0, 0)))
    return Checked(
        findings=tuple(finding for _, _, finding in found),
        rules=tuple(rule.name for rule in chosen),
    )


def chosen_rules(rules: Collection[str] | None, skip: Collection[str] = ()) -> tuple[Rule, ...]:
    """The rules of these names, in our order; CorpusError names the first that is not there, and
    the nearest that is.
    """
    for name in (*(rules or ()), *skip):
        if name not in RULES:
            near = get_close_matches(name, RULES, n=1)
            raise CorpusError(
                f"no rule '{name}'; "
                + (f"did you mean '{near[0]}'? " if near else "")
                + f"The rules are {', '.join(RULES)}"
            )
    return tuple(
        rule
        for rule in RULES.values()
        if (rules is None or rule.name in rules) and rule.name not in skip
    )
