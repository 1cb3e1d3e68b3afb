"""Can the judge tell at all? The same conversations beside the file of another client; kept, so
that nothing is asked twice.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.errors import ReportError
from simcounsel.chance import chance, seed_of
from simcounsel.instruments.material import Material, blinding_for, material_for, profile
from simcounsel.instruments.observing import observe
from simcounsel.instruments.scale import find_scale
from simcounsel.instruments.scoring import answers_of, not_applicable_of, score
from simcounsel.llm.fallbacks import FallbackShare
from simcounsel.llm.question import Ask
from simcounsel.measuring.targets import record_until, targets_of
from simcounsel.measuring.validate import open_judge
from simcounsel.runs.jsonl import append_line, json_lines
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import open_checked
from simcounsel.specs import shipped
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona
from simcounsel.specs.scale import Scale
from simcounsel.specs.vocabulary import Language
from simcounsel.specs.world_settings import FallbackLimits
from simcounsel.texts.blinding import Blinding

INSTRUMENT = "persona_fidelity"
TOGETHER = 16


@dataclass(frozen=True, kw_only=True)
class Control:
    """A conversation with another client's file."""

    run: str
    client: str
    chat: str
    other: str
    """Whose file it is."""
    material: Material


def controls(runs: Sequence[Run], most: int, seed: int = 0) -> list[Control]:
    """At most `most` conversations, drawn by seed, each beside the file of another client of the
    same language: one of these runs, of another theme where there is one; where all are about one
    client, one of those that are included.
    """
    scale = find_scale(INSTRUMENT)
    files = {
        (one.name, run.world.language): blinding_for(run.world, one.name, None).text(
            profile(one.persona)
        )
        for run in runs
        for one in run.world.residents
        if isinstance(one.persona, ClientPersona)
    }
    themes = _themes(runs)
    if len(files) < 2:
        files |= _shipped(themes)
    found = []
    for run in runs:
        record, minutes = record_until(run, None)
        for target in targets_of(run, scale, record, minutes, None, None):
            language = run.world.language
            others = [name for name, own in files if own == language and name != target.who]
            if not others or target.talk is None:
                continue
            elsewhere = [one for one in others if themes[one] != themes[target.who]] or others
            name = chance(seed, run.name, target.who, target.talk.chat, "control").choice(elsewhere)
            mine = material_for(scale, run.world, target.who, target.talk, ())
            found.append(
                Control(
                    run=run.name,
                    client=target.who,
                    chat=target.talk.chat,
                    other=name,
                    material=replace(mine, profile=files[name, language]),
                )
            )
    chance(seed, "controls").shuffle(found)
    return found[:most]


def _themes(runs: Sequence[Run]) -> dict[str, str]:
    """By client what troubles them."""
    return {
        one.name: one.persona.theme
        for run in runs
        for one in run.world.residents
        if isinstance(one.persona, ClientPersona)
    }


def _shipped(themes: dict[str, str]) -> dict[tuple[str, Language], str]:
    """The files of the included English clients; their themes go into `themes`."""
    found: dict[tuple[str, Language], str] = {}
    for file in shipped.files("personas"):
        persona = load_persona(file)
        if isinstance(persona, ClientPersona) and persona.name not in themes:
            themes[persona.name] = persona.theme
            found[persona.name, "en"] = Blinding({persona.name: "[client]"}).text(profile(persona))
    return found


def judged(
    every: Sequence[Control], judge: str, file: Path, tell: Callable[[str], None]
) -> list[float]:
    """The fidelity of each, as the judge sees it; those that it could not judge are left out. file:
    where the answers are kept. ModelUnreachable, TooManyFallbacks stop it; what was answered is
    kept. ReportError when it cannot be kept.
    """
    scale = find_scale(INSTRUMENT)
    known = {str(row.get("key")): row.get("value") for row in json_lines(file)}
    keys = {_key(one, judge, scale): one for one in every}
    left = [key for key in keys if key not in known]
    if left:
        models = open_judge(judge)
        models.fallbacks = FallbackShare(FallbackLimits())
        try:
            for start in range(0, len(left), TOGETHER):
                some = left[start : start + TOGETHER]
                outcomes = models.ask({key: _value(keys[key], scale) for key in some})
                rows = [
                    {
                        "key": key,
                        "judge": judge,
                        "run": keys[key].run,
                        "client": keys[key].client,
                        "chat": keys[key].chat,
                        "file of": keys[key].other,
                        "value": outcomes[key].value,
                    }
                    for key in some
                ]
                _keep(file, rows)
                known |= {key: outcomes[key].value for key in some}
                tell(f"beside another's file: {start + len(some)} of {len(left)} conversations")
        finally:
            models.close()
    return [float(value) for key in keys if (value := known.get(key)) is not None]


def _value(one: Control, scale: Scale) -> Ask[float | None]:
    answers = yield from observe(scale, one.client, one.material, "control", one.run, one.chat)
    found = score(scale, answers_of(answers.items), not_applicable_of(answers.items))
    return found[0].value


def _key(one: Control, judge: str, scale: Scale) -> str:
    return f"{seed_of(judge, scale.hash, one.material.text()):016x}"


def _keep(file: Path, rows: Sequence[Mapping[str, object]]) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        append_line(file, *rows)
    except OSError as error:
        raise ReportError(
            f"{file}: cannot be written ({error.strerror}); choose another --out"
        ) from None


def opened(folders: Sequence[Path]) -> Iterator[Run]:
    """The runs, also damaged ones as far as they can be read."""
    return (open_checked(folder, damaged=True) for folder in folders)
