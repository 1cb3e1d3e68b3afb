"""Whether simulated clients comply too much, held against their own files: by the runs of the
experiment as it is. Beside real sessions: `study simulators --real`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from analysis.page import interval, num
from analysis.sample import Member
from analysis.statistics.groups import spread
from analysis.validity.part import Claim, ClaimVerdict
from analysis.validity.talk.moves import moves_in
from analysis.validity.talk.sessions import ClientLine
from simcounsel.specs.experiment import LEAST_CLIENTS

FEW = 0.1
"""Of a client's lines: so many that go too far are as good as none."""
CLOSED = 3.0
"""Openness up to which a client keeps most back."""
SHARES = ("too far", "closed", "open")
STATEMENT = "Clients do not want to open up faster than their files let them"


def compliance(members: Iterable[Member]) -> pd.DataFrame:
    """A row for each client: share of lines whose reply was more open than the file's rules let it
    be (`too far`), shares of lines that agree or take something up while the client is `closed`
    and while it is `open`; None where there is no such line.
    """
    found: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for member in members:
        lines = {(one["chat"], one["message"]): one for one in member.log.fields(("said",))}
        for shift in member.log.fields(("client_shifted",)):
            own = found[shift["who"]]
            own["too far"].append(shift["claimed"] > shift["openness"])
            said = lines.get((shift["chat"], shift.get("message")))
            heard = lines.get((shift["chat"], (shift.get("message") or 0) - 1))
            if said is not None and heard is not None:
                where = "closed" if shift["before"] <= CLOSED else "open"
                own[where].append(_agrees(said, heard, member))
    rows = [
        {
            "client": client,
            **{name: _share(own.get(name)) for name in ("too far", "closed", "open")},
        }
        for client, own in sorted(found.items())
    ]
    return pd.DataFrame(rows, columns=["client", "too far", "closed", "open"])


def _agrees(said: dict[str, Any], heard: dict[str, Any], member: Member) -> bool:
    language = member.manifest["world"].get("language", "en")
    line = ClientLine(said=said["text"], before=heard["text"])
    return bool({"agrees", "takes_up"} & moves_in(line, language))


def _share(some: list[bool] | None) -> float | None:
    return sum(some) / len(some) if some else None


def complied(table: pd.DataFrame) -> Claim:
    """Whether clients go too far, over clients."""
    known = table["too far"].dropna().tolist()
    if not known:
        why = "no client's openness moves in these runs (`client_state: moves`)"
        return Claim(statement=STATEMENT, verdict="not measured", because=why)
    whole = spread("too far", known)
    low, high = whole.low, whole.high
    verdict: ClaimVerdict = "undecided"
    if len(set(known)) == 1:
        low = high = whole.mean
    if len(known) >= LEAST_CLIENTS and low is not None and high is not None:
        verdict = "holds" if high < FEW else "does not hold" if low > FEW else "undecided"
    because = f"in {num(whole.mean)} {interval(low, high)} of lines the reply was more open"
    because += "; " + "; ".join(_told(table))
    return Claim(statement=STATEMENT, verdict=verdict, because=because)


def _told(table: pd.DataFrame) -> Iterator[str]:
    for name, words in (("closed", f"openness to {CLOSED:g}"), ("open", "above")):
        known = table[name].dropna()
        if len(known):
            yield f"{num(float(known.mean()))} of lines agree at {words}"
