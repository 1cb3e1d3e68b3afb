"""How good is the embedded model's talk and planning, beside the same model with a plain prompt?

    python tests/benchmarks/embedded_quality.py [--ticks 96] [--seeds 1 2 3] [--plain-ticks 4] [--plain-seeds 1]

Prints, for ours and for a plain chat prompt with a JSON schema: the share of slots whose activity
fits hour and place, the similarity of a reply to what it answers against a shuffled baseline, the
share of repeated lines, role slips, and schema failures. Figures, not verdicts: read the talk too.

The judge of fit is apart from what chooses activities: word lists and hours stated below, and for
places the words that name another room than the one stated. Similarity is MiniLM's cosine, which
also ranks our lines; the shuffled baseline shows how much of it is mere subject.
"""

import argparse
import random
import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simcounsel.embedded import Embedded
from simcounsel.engine.opening import begin_run
from simcounsel.engine.simulation import Simulation
from simcounsel.events import Acted, Said, Warned
from simcounsel.llm.embeddings import MiniLM
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.run import Run
from simcounsel.specs.world_file import load_world

ROOT = Path(__file__).parents[2]
HOURS = {
    r"\b(sleeps?|asleep|dozes?|dreams?)\b": [(20, 24), (0, 9), (12, 17)],
    r"\bbreakfast|toast\b": [(4, 12)],
    r"\blunch\b": [(11, 16)],
    r"\b(supper|dinner)\b": [(16, 23)],
    r"\bwork(s|ing)? (on|at)|\b(draws?|checks? a|answers? the office|meeting)\b": [(6, 24)],
    r"\b(market|shop|buys?)\b": [(7, 21)],
    r"\b(waters?|weeds?|mows?)\b": [(5, 22)],
    r"\b(good ?night|bedtime|goes to bed)\b": [(19, 24), (0, 5)],
}
ROOMS = {
    "bedroom": r"\b(cooks?|stove|oven|weeds|ducks|pond|stall|market)\b",
    "kitchen": r"\b(sofa|ducks|pond|weeds|in bed|stall)\b",
    "living room": r"\b(stove|ducks|pond|weeds|in bed|stall)\b",
    "garden": r"\b(in bed|sofa|stove|pond|stall|television|series)\b",
    "park": r"\b(in bed|sofa|stove|laundry|washes up|television|series|desk)\b",
    "market": r"\b(in bed|sofa|stove|laundry|washes up|television|series|desk|pond)\b",
    "counseling center": r"\b(in bed|sofa|stove|laundry|pond|weeds|sleeps)\b",
}
COUNSELS = r"\b(what makes you|how does that make you feel|what do you mean|have you considered|i (recommend|suggest)|you should)\b"
CONFIDES = r"\b(i can't sleep|i lie awake|i'm afraid|my (mother|boss|husband|wife))\b"


def live(plain: bool, seed: int, ticks: int, folder: Path) -> tuple[Run, float, int]:
    """A run of the default world; seconds and second tries."""
    world = load_world(ROOT / "worlds" / "insomnia.yaml", seed=seed, ticks=ticks)
    if plain:
        world = load_world(ROOT / "worlds" / "tiny.yaml", seed=seed, ticks=ticks)
    model = Embedded(plain=plain)
    models = Switchboard({"reason": model, "quick": model, "judge": model}, MiniLM())
    started = time.perf_counter()
    simulation = Simulation(world, run=begin_run(world, folder), models=models)
    run = simulation.run()
    return run, time.perf_counter() - started, models.usage.second_tries


def fits(event: Acted, hour: int, kind: str) -> bool:
    """Whether an activity's words fit the hour and the kind of place."""
    text = event.activity.lower()
    for pattern, spans in HOURS.items():
        if re.search(pattern, text) and not any(a <= hour < b for a, b in spans):
            return False
    return not re.search(ROOMS.get(kind, r"(?!)"), text)


def pairs(run: Run) -> Iterator[tuple[str, str]]:
    """What was said, and the reply."""
    last: Said | None = None
    for entry in run.entries():
        if isinstance(entry.event, Said):
            if last is not None and last.chat == entry.event.chat:
                yield last.text, entry.event.text
            last = entry.event


def measure(runs: list[Run], second_tries: int) -> dict[str, Any]:
    """All figures over some runs."""
    minilm = MiniLM()
    fit: list[bool] = []
    said: list[Said] = []
    talk: list[tuple[str, str]] = []
    repeated = warned = requests = 0
    for run in runs:
        kinds = {place.name: place.kind for _, place in run.world.every_place()}
        roles = {r.name: r.role for r in run.world.residents}
        lines: set[tuple[str, str]] = set()
        for entry in run.entries():
            event = entry.event
            if isinstance(event, Acted):
                fit.append(fits(event, entry.minute // 60 % 24, kinds[event.place]))
            elif isinstance(event, Warned):
                warned += 1
            elif isinstance(event, Said):
                repeated += (event.who, event.text) in lines
                lines.add((event.who, event.text))
                said.append(event)
        requests += sum(call["verb"] != "embed" for call in run.calls())
        talk += list(pairs(run))
    slips = sum(
        bool(
            re.search(
                COUNSELS
                if roles[s.who] == "client"
                else CONFIDES
                if roles[s.who] == "counselor"
                else r"(?!)",
                s.text.lower(),
            )
        )
        for s in said
    )
    heard = minilm.embed_now([a for a, _ in talk]) if talk else None
    reply = minilm.embed_now([b for _, b in talk]) if talk else None
    true = shuffled = float("nan")
    if heard is not None and reply is not None:
        true = float((heard * reply).sum(axis=1).mean())
        order = list(range(len(talk)))
        draws = []
        for seed in range(200):
            random.Random(seed).shuffle(order)
            draws.append(float((heard * reply[order]).sum(axis=1).mean()))
        shuffled = statistics.mean(draws)
    return {
        "slots": len(fit),
        "fit %": 100 * sum(fit) / max(1, len(fit)),
        "lines": len(said),
        "reply similarity": true,
        "shuffled": shuffled,
        "repeated %": 100 * repeated / max(1, len(said)),
        "role slips %": 100 * slips / max(1, len(said)),
        "schema failures %": 100 * (second_tries + warned) / max(1, requests),
        "requests": requests,
    }


def main() -> None:
    """Live, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ticks", type=int, default=96)
    parser.add_argument(
        "--plain-ticks",
        type=int,
        default=4,
        help="of the tiny world; each takes minutes, since the model writes JSON by a grammar",
    )
    parser.add_argument("--plain-seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = {}
        for name, plain, ticks, seeds in (
            ("ours", False, wanted.ticks, wanted.seeds),
            ("plain prompt", True, wanted.plain_ticks, wanted.plain_seeds),
        ):
            lived = []
            for seed in seeds:
                lived.append(live(plain, seed, ticks, Path(folder)))
                print(f"{name}, seed {seed}: {ticks} ticks in {lived[-1][1]:.0f} s", flush=True)
            rows[name] = measure([run for run, _, _ in lived], sum(tries for _, _, tries in lived))
            rows[name]["seconds per tick"] = sum(seconds for _, seconds, _ in lived) / (
                ticks * len(lived)
            )
    print(f"{'':20s}" + "".join(f"{name:>16s}" for name in rows))
    for key in rows["ours"]:
        print(f"{key:20s}" + "".join(f"{rows[name][key]:16.2f}" for name in rows))


if __name__ == "__main__":
    main()
