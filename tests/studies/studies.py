"""Rating studies for tests: over scripted runs whose lines try to betray where they come from."""

import json
from pathlib import Path
from typing import Any

from simcounsel.runs.run import Run
from simcounsel.studies.instrument import RatingInstrument, load_instrument
from simcounsel.studies.items import Choice
from simcounsel.studies.making import make_study
from simcounsel.studies.offline import write_offline
from simcounsel.studies.study import Study
from tests.stage import live, three

TELLING = "Ines, I am Miriam, your counselor; INES's friend Omar waits in Omar’s  flat by the Counseling Center, in client_counselor."
HOSTILE = "<script>window.caught = 1</script><img src=x onerror='window.caught = 2'></script>\u202egnirts\x00<!--"


def lived(out: Path, text: str = TELLING, **changes: Any) -> Run:
    """A scripted run, after which everything that was said or thought of oneself is this text, numbered."""
    run = live(out, three().model_copy(update=changes))
    log = run.folder / "events.jsonl"
    lines = []
    for line in log.read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        if fields["kind"] == "said":
            fields["text"] = f"{text} {fields['seq']}"
        if fields["kind"] == "persona_changed":
            fields["characteristic"] = f"{text} {fields['version']} {out.name}"
        lines.append(json.dumps(fields, ensure_ascii=False, separators=(",", ":")))
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return run


def instrument(**changes: Any) -> RatingInstrument:
    """Two questions about a transcript, one of them with eleven points."""
    fields: dict[str, Any] = {
        "title": "What is said",
        "instructions": "Read.\n\nThen answer.",
        "about": "transcripts",
        "mask": ["counsel*"],
        "items": [
            {"id": "kind", "text": "B is kind.", "low": "no", "high": "yes"},
            {"id": "real", "text": "This is real.", "points": 11, "low": "no", "high": "yes"},
        ],
    }
    return RatingInstrument.model_validate(fields | changes)


def made(runs: Path, out: Path, asked: RatingInstrument | str | None = None, **kind: Any) -> Study:
    """A study over these runs, its offline pages included; short conversations count too."""
    asked = load_instrument(asked) if isinstance(asked, str) else asked or instrument()
    study = make_study(
        [runs], asked, out, choice=kind.pop("choice", Choice(fewest_lines=1)), **kind
    )
    write_offline(out, study)
    return study
