"""How often a counselor turns to the safety protocol with clients whose files hold no danger: courses of the embedded model with every
client that ships, one process each; a client that takes long is no reason to look at fewer.

    python -m tests.benchmarks.safety_moves                       # all clients, 10 sessions of 24 lines: hours
    python -m tests.benchmarks.safety_moves --lines 12 --clients ines kofi
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from simcounsel.bench.risk import Share
from simcounsel.danger.hearing.in_file import dangers_in_file
from simcounsel.runs.history import History
from simcounsel.runs.run import load_run
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona
from tests.stage import ROOT

PERSONAS = ROOT / "personas"


def clients() -> list[str]:
    """The names of the files of all clients that ship."""
    files = sorted(PERSONAS.glob("*.yaml"))
    return [file.stem for file in files if load_persona(file).role == "client"]


def counted(run: Path) -> Share:
    """The counselor's lines that the protocol decided, of all that the counselor said."""
    decided = [
        line.decided
        for conversation in History.of(load_run(run)).conversations()
        for line in conversation.lines
        if line.decided is not None and line.decided.policy != "client"
    ]
    return Share(hits=sum(one.policy == "safety" for one in decided), of=len(decided))


def course(client: str, sessions: int, lines: int, folder: Path, *more: str) -> Path:
    """A course of cognitive behavioral therapy with a client, by the embedded model.

    more: further options of `simcounsel clinic`.
    """
    name = (load_persona(PERSONAS / f"{client}.yaml").name).split()[0]
    text = (ROOT / "worlds" / "tiny.yaml").read_text(encoding="utf-8")
    world = folder / f"{client}.yaml"
    world.write_text(
        text.replace("../personas/ines.yaml", str(PERSONAS / f"{client}.yaml"))
        .replace("../personas/miriam.yaml", str(PERSONAS / "miriam.yaml"))
        .replace("who: [Ines", f"who: [{name}"),
        encoding="utf-8",
    )
    command = ["clinic", world, "--therapy", "cbt", "--sessions", sessions, "--lines", lines, *more]
    out = folder / f"{client}-runs"
    subprocess.run(
        [sys.executable, "-m", "simcounsel", *map(str, command), "--quiet", "--out", str(out)],
        check=True,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
    )
    return next(out.iterdir())


def told(share: Share) -> str:
    """In words, with Wilson's 95% interval."""
    if share.share is None or share.interval is None:
        return "no lines"
    low, high = (100 * end for end in share.interval)
    return (
        f"{share.hits} of {share.of} lines, {100 * share.share:.2f} in 100 [{low:.2f}, {high:.2f}]"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", nargs="*", default=clients())
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--lines", type=int, default=24)
    given = parser.parse_args()
    hits = of = 0
    with tempfile.TemporaryDirectory() as folder:
        for client in given.clients:
            share = counted(course(client, given.sessions, given.lines, Path(folder)))
            persona = load_persona(PERSONAS / f"{client}.yaml")
            assert isinstance(persona, ClientPersona)
            file = ", ".join(dangers_in_file(persona, "en")) or "none"
            print(f"{client:12} {told(share)}; danger in the file: {file}", flush=True)
            hits, of = hits + share.hits, of + share.of
    print(f"{'all':12} {told(Share(hits=hits, of=of))}")


if __name__ == "__main__":
    main()
