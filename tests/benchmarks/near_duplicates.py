"""Near-duplicate search over many dialogues: time, memory, recall of the planted, beside exact all-pairs comparison.

    python tests/benchmarks/near_duplicates.py [--quick] [--n 50000] [--subsample 600]

Dialogues are made of words drawn by Zipf's law, 16 turns of 10 to 40 words, and phrases that all of them share; two in a hundred
are rewritten copies of an earlier one with up to 12 in a hundred words changed, so that some lie just above the
limit (Jaccard 0.7) and some below. Recall is told for those whose exact similarity is at or above it. On a
subsample every pair is counted exactly in the same run: both must find the same duplicates, and the time
of all pairs of the whole is extrapolated from it by the square.
"""

import argparse
import random
import resource
import sys
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from simcounsel.corpus.checks import Limits, check_dialogues  # noqa: E402
from simcounsel.corpus.checks.shingles import Hashes, jaccard, shingles  # noqa: E402
from simcounsel.corpus.dialogues import Dialogue, Turn  # noqa: E402

STOCK = (
    "I don't really know where to start.",
    "What made you pick today?",
    "Take your time.",
    "What happened then?",
    "I suppose so.",
    "Would you say more about that?",
)
PLANTED = 0.02


def words(count: int = 30_000) -> tuple[list[str], list[float]]:
    """Invented words and their cumulative weights, by Zipf's law."""
    draw = random.Random(1)
    made = ["".join(draw.choices("etaoinshrdlucmfwyp", k=draw.randint(2, 9))) for _ in range(count)]
    return made, list(accumulate(1 / (rank + 3) for rank in range(count)))


def corpus(n: int) -> tuple[list[Dialogue], dict[int, int]]:
    """n dialogues, and which are rewritten copies of which."""
    vocabulary, weights = words()
    made: list[list[str]] = []
    planted: dict[int, int] = {}
    for number in range(n):
        draw = random.Random(number + 10)
        if made and draw.random() < PLANTED:
            planted[number] = draw.randrange(len(made))
            changed = draw.uniform(0.0, 0.12)
            made.append(
                [
                    " ".join(
                        word if draw.random() > changed else draw.choice(vocabulary)
                        for word in line.split()
                    )
                    for line in made[planted[number]]
                ]
            )
        else:
            made.append(
                [
                    f"{draw.choice(STOCK)} {' '.join(draw.choices(vocabulary, cum_weights=weights, k=draw.randint(10, 40)))}"
                    for _ in range(16)
                ]
            )
    return [_dialogue(str(number), lines) for number, lines in enumerate(made)], planted


def _dialogue(name: str, lines: list[str]) -> Dialogue:
    turns = tuple(
        Turn(speaker="counselor" if at % 2 else "client", text=line)
        for at, line in enumerate(lines)
    )
    return Dialogue(id=name, client=name, turns=turns)


def hashed(dialogue: Dialogue) -> Hashes:
    return shingles("\n".join(dialogue.lines()))


def duplicates(dialogues: list[Dialogue]) -> set[int]:
    """What the check calls near-duplicates, by number."""
    return {
        int(finding.dialogue)
        for finding in check_dialogues(dialogues, rules=["near_duplicate"]).findings
        if finding.dialogue
    }


def all_pairs(dialogues: list[Dialogue], least: float) -> Iterator[int]:
    """The same rule without sketches: each dialogue against every earlier one that is kept."""
    kept: list[Hashes] = []
    for dialogue in dialogues:
        mine = hashed(dialogue)
        if any(jaccard(mine, other) >= least for other in kept):
            yield int(dialogue.id)
        else:
            kept.append(mine)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=50_000)
    parser.add_argument("--subsample", type=int, default=600)
    parser.add_argument(
        "--quick", action="store_true", help="2,000 dialogues and a subsample of 200"
    )
    asked = parser.parse_args(arguments)
    n, small = (2_000, 200) if asked.quick else (asked.n, asked.subsample)
    dialogues, planted = corpus(n)
    before_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    found = duplicates(dialogues)
    ours_s = time.perf_counter() - start
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    likeness = {
        copy: jaccard(hashed(dialogues[copy]), hashed(dialogues[original]))
        for copy, original in planted.items()
    }
    above = {
        copy
        for copy, exact in likeness.items()
        if exact >= Limits().jaccard and planted[copy] not in planted
    }
    sample = [
        dialogues[number]
        for number in sorted(
            {
                *list(planted)[: small // 10],
                *(planted[copy] for copy in list(planted)[: small // 10]),
                *range(small),
            }
        )
    ]
    start = time.perf_counter()
    exact = set(all_pairs(sample, Limits().jaccard))
    pairs_s = time.perf_counter() - start
    same = exact == duplicates(sample)
    print(
        f"{n:,} dialogues, {len(planted):,} planted copies, {len(above):,} of them at Jaccard {Limits().jaccard} or above"
    )
    print(
        f"search           {ours_s:8.1f} s, {1000 * ours_s / n:.2f} ms a dialogue; peak memory {peak_mb:,.0f} MB, {peak_mb - before_mb:,.0f} more than the corpus"
    )
    print(
        f"recall           {len(above & found) / max(len(above), 1):8.4f} ({len(above & found):,} of {len(above):,}); found beside the planted: {len(found - set(planted)):,}"
    )
    print(
        f"all pairs        {pairs_s:8.1f} s over {len(sample):,} dialogues; the same {len(exact)} duplicates: {'yes' if same else 'NO'}"
    )
    whole_s = pairs_s * (n / len(sample)) ** 2
    print(
        f"ratio            {whole_s / ours_s:8.0f} times faster than all pairs of the whole would be (extrapolated: {whole_s / 3600:,.1f} h)"
    )


if __name__ == "__main__":
    main()
