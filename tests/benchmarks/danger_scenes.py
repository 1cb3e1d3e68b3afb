"""What is judged of danger for which no plain word falls: kinds, level, time, people and means on the frozen scenes
(tests/data/danger_scenes_en.yaml, danger_scenes_zh.yaml), never a line. Whoever runs it says so in docs/hearing-danger.md.

    python -m tests.benchmarks.danger_scenes                              # words and classifier
    python -m tests.benchmarks.danger_scenes --model http://localhost:11434/v1/MODEL
    python -m tests.benchmarks.danger_scenes --model byhand:FOLDER        # somebody answers each prompt
"""

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from simcounsel.bench.risk import Share
from simcounsel.danger.hearing.assessing import assess
from simcounsel.danger.hearing.judging import LineContext
from simcounsel.events import Assessed
from simcounsel.llm.catalog import open_chat
from simcounsel.llm.switchboard import Switchboard
from simcounsel.scripted import Scripted
from simcounsel.specs.vocabulary import RISK_LEVELS
from tests.stage import ROOT, switchboard

Scene = Mapping[str, Any]
KIND = {"violence": "harm_to_others", "another": "suicide"}
"""What the project calls it; danger of somebody else's hand is suicide, whose it is is beside it.
"""


def scenes(language: str) -> list[Scene]:
    """The scenes of a language."""
    path = ROOT / "tests" / "data" / f"danger_scenes_{language}.yaml"
    some: list[Scene] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return some


def kinds(scene: Scene) -> set[str]:
    """The kinds, as the project calls them."""
    return {KIND.get(kind, kind) for kind in scene["kinds"]}


def context_of(scene: Scene, language: str) -> tuple[str, LineContext]:
    """The last line, and the talk before it."""
    talk = [(who == "client", text) for line in scene["talk"] for who, text in line.items()]
    *before, (_, last) = talk
    return last, LineContext(
        who="Client",
        key=("scenes", scene["id"]),
        language=language,
        before=before[-1][1] if before else "",
        talk=tuple(before),
    )


def judged(models: Switchboard, language: str) -> list[tuple[Scene, Assessed]]:
    """Each scene with what was heard in its last line; every line is asked about."""
    some = scenes(language)
    asks = {}
    for scene in some:
        line, context = context_of(scene, language)
        asks[scene["id"]] = assess(line, context, every_line=True)
    heard = models.ask(asks)
    return [(scene, heard[scene["id"]].value) for scene in some]


def share(hits: Iterable[bool]) -> str:
    """How many of how many, with Wilson's 95% interval."""
    some = list(hits)
    one = Share(hits=sum(some), of=len(some))
    if one.share is None or one.interval is None:
        return "-"
    return f"{one.hits} of {one.of} [{one.interval[0]:.2f}, {one.interval[1]:.2f}]"


def found(wanted: str | None, said: str | None) -> bool:
    """Whether the words that were wanted are in those that were taken, or the other way round."""
    return bool(wanted and said) and (
        wanted.casefold() in said.casefold() or said.casefold() in wanted.casefold()
    )  # type: ignore[union-attr]


def tell(name: str, pairs: list[tuple[Scene, Assessed]]) -> None:
    """The rates."""
    danger = [pair for pair in pairs if pair[0]["kinds"]]
    calm = [pair for pair in pairs if not pair[0]["kinds"]]
    another = [pair for pair in danger if "another" in pair[0]["kinds"]]
    told = [(scene, heard.details) for scene, heard in danger if heard.details is not None]
    print(f"{name}: {len(danger)} with danger, {len(calm)} that only look like it")
    print(f"  danger heard {share(heard.level != 'none' for _, heard in danger)}")
    print(f"  look-alikes left alone {share(heard.level == 'none' for _, heard in calm)}")
    print(f"  level the same {share(heard.level == scene['level'] for scene, heard in pairs)}")
    near = (
        abs(RISK_LEVELS.index(heard.level) - RISK_LEVELS.index(scene["level"])) <= 1
        for scene, heard in danger
    )
    print(f"  level within one, of those with danger {share(near)}")
    print(
        f"  each kind there is heard {share(kinds(scene) <= set(heard.kinds) for scene, heard in danger)}"
    )
    print(f"  and no other {share(kinds(scene) == set(heard.kinds) for scene, heard in danger)}")
    corrects = [pair for pair in pairs if pair[0]["corrects"]]
    denied = (
        KIND.get(scene["corrects"], scene["corrects"]) not in heard.kinds
        for scene, heard in corrects
    )
    print(f"  what the client denies is not heard {share(denied)}")
    print(
        f"  whose it is, where it is another's {share(bool(heard.details and heard.details.whose) for _, heard in another)}"
    )
    for field in ("time", "means"):
        some = [
            (scene[field], details.when if field == "time" else details.means)
            for scene, details in told
            if scene[field]
        ]
        print(f"  {field} {share(found(wanted, said) for wanted, said in some)}")
    people = [(one, details.people) for scene, details in told for one in scene["people"]]
    print(f"  people {share(any(found(one, said) for said in some) for one, some in people)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model")
    parser.add_argument("--language", nargs="*", default=["en", "zh"])
    given = parser.parse_args()
    models = switchboard(open_chat(given.model) if given.model else Scripted())
    models.begin_tick(0)
    for language in given.language:
        tell(language, judged(models, language))
    models.close()


if __name__ == "__main__":
    main()
