"""Who comes into which arm: lists that chance makes before the first person, and nobody sees.

Permuted blocks of lengths that chance draws (Efird 2011), one list for each combination of the
answers that the trial stratifies by, or each place by itself. The lists follow from a secret seed;
its hash, with that of each list, is written down when the trial is sealed. So anybody can check
later that nothing was chosen.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from simcounsel.chance import chance
from simcounsel.trial.plan import Trial

NO_ANSWER = "none"


def stratum_of(trial: Trial, answers: Mapping[tuple[str, str], Mapping[str, Any]]) -> str:
    """Of a participant, by their answers; 'all' where there are none to look at."""
    by_id = {id: given for (id, _), given in answers.items()}
    parts = (item.split(".") for item in trial.allocation.by)
    found = (by_id.get(id, {}).get(item) for id, item in parts)
    return " / ".join(NO_ANSWER if one is None else str(one) for one in found) or "all"


def places(trial: Trial, seed: str, stratum: str) -> tuple[str, ...]:
    """The arms of one stratum in the order of those who come: as many as there are places, since
    all could be of one stratum.
    """
    names = [arm.name for arm in trial.arms]
    drawn = chance(seed, "allocation", stratum)
    found: list[str] = []
    while len(found) < trial.entrance.people:
        if trial.allocation.method == "simple":
            found.append(drawn.choice(names))
        else:
            block = names * drawn.choice(trial.allocation.blocks)
            drawn.shuffle(block)
            found += block
    return tuple(found[: trial.entrance.people])


def strata(trial: Trial, questionnaires: Mapping[str, Any]) -> Iterator[str]:
    """All that there may be. questionnaires: `Questionnaire`, by id."""
    values: list[list[str]] = [[]]
    for item in trial.allocation.by:
        id, name = item.split(".")
        asked = next(one for one in questionnaires[id].of("en").items if one.id == name)
        choices = [*(str(value) for value, _ in asked.choices), NO_ANSWER]
        values = [[*before, choice] for before in values for choice in choices]
    for one in values:
        yield " / ".join(one) or "all"


def seal_of(trial: Trial, seed: str, questionnaires: Mapping[str, Any]) -> dict[str, str]:
    """The hash of the list of each stratum, and of the seed."""
    lists = {
        name: _sha("\n".join(places(trial, seed, name))) for name in strata(trial, questionnaires)
    }
    return {"seed": _sha(seed), "lists": _sha(json.dumps(lists, sort_keys=True))}


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
