"""How well danger is heard on the frozen lines (tests/danger/frozen): rates with Wilson's 95%
intervals, never a line.

    python -m tests.benchmarks.danger            # words and classifier, with MiniLM's vectors
    python -m tests.benchmarks.danger --no-vectors

Whoever runs it says so in docs/hearing-danger.md, where the number of measurements is
kept: a detector that is repaired after its mistakes here has no figure any more.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from simcounsel.bench.risk import Share
from simcounsel.danger.hearing.detector import Heard, hear, takes_vectors
from simcounsel.llm.embeddings import MiniLM
from simcounsel.specs.vocabulary import DANGERS, Danger

FROZEN = Path(__file__).parents[1] / "danger" / "frozen"
Row = dict[str, Any]
Pair = tuple[Row, Heard]


def rows_of(name: str) -> list[Row]:
    """The lines of a file."""
    return [
        json.loads(line)
        for line in (FROZEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def heard_in(name: str, minilm: MiniLM | None) -> list[Pair]:
    """Each line of a file with what was heard in it; an answer after its question."""
    rows = rows_of(name)
    vectors = minilm.embed_now([row["text"] for row in rows]) if minilm else [None] * len(rows)
    return [
        (
            row,
            hear(
                row["text"],
                spoken(row),
                row.get("question", ""),
                vector if takes_vectors(row["text"]) else None,
            ),
        )
        for row, vector in zip(rows, vectors, strict=True)
    ]


def spoken(row: Row) -> str:
    """The language of the talk: another language is said in an English one."""
    return "zh" if row["language"] == "zh" else "en"


def flagged(pair: Pair) -> bool:
    """Whether it counts as danger without a model."""
    return pair[1].level != "none"


def reaches(pair: Pair) -> bool:
    """Whether it is flagged, or a model is asked."""
    return flagged(pair) or pair[1].doubt


def begins(some: Iterable[Heard]) -> bool:
    """Whether these lines of one session begin the protocol where no model can judge."""
    noted: set[Danger] = set()
    for heard in some:
        if heard.level != "none" and not heard.waits(noted):
            return True
        noted |= set(heard.kinds)
    return False


def share(pairs: Iterable[Pair], test: Callable[[Pair], bool]) -> str:
    """How many of how many, in words."""
    some = [test(pair) for pair in pairs]
    one = Share(hits=sum(some), of=len(some))
    if one.share is None or one.interval is None:
        return "-"
    low, high = one.interval
    return f"{one.share:.3f} [{low:.3f}, {high:.3f}] ({one.hits} of {one.of})"


def tell_lines(name: str, pairs: list[Pair], by: tuple[str, ...]) -> None:
    """Recall and precision of flagged, recall with doubt, and recall by each field."""
    danger = [pair for pair in pairs if pair[0]["danger"] != "none"]
    calm = [pair for pair in pairs if pair[0]["danger"] == "none"]
    print(f"{name}: {len(danger)} with danger, {len(calm)} without")
    print(f"  recall {share(danger, flagged)}; with doubt {share(danger, reaches)}")
    print(f"  begins the protocol by itself {share(danger, lambda pair: begins([pair[1]]))}")
    print(
        f"  precision {share([pair for pair in pairs if flagged(pair)], lambda pair: pair[0]['danger'] != 'none')}"
    )
    print(
        f"  harmless: flagged {share(calm, flagged)}, asked about or flagged {share(calm, reaches)}"
    )
    right = [pair for pair in danger if flagged(pair)]
    print(
        f"  of flagged dangers the kind is among those heard: {share(right, lambda pair: pair[0]['danger'] in pair[1].kinds)}"
    )
    for field in by:
        groups = defaultdict(list)
        for pair in danger:
            groups[pair[0][field]].append(pair)
        for value, some in sorted(groups.items(), key=lambda item: str(item[0])):
            print(
                f"    {field} {value}: flagged {share(some, flagged)}, with doubt {share(some, reaches)}"
            )


def tell_interviews(pairs: list[Pair]) -> None:
    """False alarms by line and by session."""
    sessions = defaultdict(list)
    for pair in pairs:
        sessions[pair[0]["session"]].append(pair)
    begun = sum(begins(heard for _, heard in some) for some in sessions.values())
    print(
        f"interviews: lines flagged {share(pairs, flagged)}, in doubt or flagged {share(pairs, reaches)}"
    )
    one = Share(hits=begun, of=len(sessions))
    print(f"  sessions that would start the protocol {one.hits} of {one.of} {one.interval}")


def tell_questions(pairs: list[Pair]) -> None:
    """What answers to questions open."""
    for kind in ("ordinary", "direct"):
        some = [pair for pair in pairs if pair[0]["kind"] == kind]
        calm = [pair for pair in some if pair[0]["danger"] == "none"]
        danger = [pair for pair in some if pair[0]["danger"] in DANGERS]
        print(
            f"questions, {kind}: no danger but flagged {share(calm, flagged)}; danger flagged {share(danger, flagged)}"
        )


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-vectors", action="store_true")
    minilm = None if parser.parse_args().no_vectors else MiniLM()
    tell_lines("en", heard_in("en", minilm), ("danger", "form", "level"))
    tell_lines("zh", heard_in("zh", minilm), ("danger", "form", "level"))
    tell_lines("spelling", heard_in("spelling", minilm), ("form",))
    tell_interviews(heard_in("interviews", minilm))
    tell_lines("other languages", heard_in("other_languages", minilm), ("language",))
    tell_questions(heard_in("questions", minilm))


if __name__ == "__main__":
    main()
