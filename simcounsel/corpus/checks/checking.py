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
from simcounsel.corpus.checks.rules import Limits, Rule, each
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.errors import CorpusError

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule(name="empty_corpus", looks_for="a corpus without dialogues", find=shape.empty_corpus),
        Rule(name="repeated_id", looks_for="two dialogues with one id", find=shape.repeated_id),
        Rule(
            name="single_speaker",
            looks_for="only one of the two speaks",
            find=each(shape.single_speaker),
        ),
        Rule(
            name="repeated_speaker",
            looks_for="one speaker twice in a row",
            find=each(shape.repeated_speaker),
        ),
        Rule(
            name="ends_on_client",
            looks_for="the client's last line stays unanswered",
            find=each(shape.ends_on_client),
        ),
        Rule(name="empty_turn", looks_for="a turn without words", find=each(shape.empty_turn)),
        Rule(
            name="overlong_turn",
            looks_for="a turn longer than speech",
            find=each(shape.overlong_turn),
        ),
        Rule(name="too_short", looks_for="too few turns", find=each(shape.too_short)),
        Rule(name="list_like", looks_for="a reply that is a list", find=each(lists.list_like)),
        Rule(name="templated", looks_for="replies cut to one pattern", find=templates.templated),
        Rule(
            name="near_duplicate",
            looks_for="a dialogue that repeats another's wording",
            find=overlap.near_duplicate,
        ),
        Rule(
            name="split_leak",
            looks_for="a client, or long stretches of text, in training and test data",
            find=overlap.split_leak,
        ),
        Rule(
            name="role_reversal",
            looks_for="a client who counsels, a counselor who needs it, labels in a line",
            find=each(roles.role_reversal),
        ),
        Rule(
            name="contradiction",
            looks_for="what the client's file says otherwise",
            find=each(contradiction.contradiction),
        ),
        Rule(
            name="unaddressed_risk",
            looks_for="danger to life that no counselor takes up",
            find=each(risk.unaddressed_risk),
        ),
        Rule(
            name="language",
            looks_for="another language than the dialogue's or the corpus's",
            find=language.language,
        ),
        Rule(
            name="identifying",
            looks_for="contacts, numbers, addresses, names and places",
            find=each(identifying.identifying),
        ),
        Rule(
            name="leak", looks_for="agenda, reasoning or prompt said aloud", find=each(leaks.leak)
        ),
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
