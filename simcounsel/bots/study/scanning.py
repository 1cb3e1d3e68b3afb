"""How often what reads the bots' lines is right: the rules', or a judge's, asked once a study."""

import json
from collections.abc import Iterable
from pathlib import Path

from simcounsel.bots.scan.checked import Checked, checked
from simcounsel.bots.scan.judged import checked_judge
from simcounsel.bots.study.results import Scanners
from simcounsel.disk import write_whole
from simcounsel.intake import file_bytes, json_data
from simcounsel.llm.catalog import open_chat, open_embed
from simcounsel.llm.switchboard import Switchboard
from simcounsel.specs.vocabulary import Language

FILE = "judge.json"


def scanners_of(judge: str | None, out: Path, languages: Iterable[Language]) -> Scanners:
    """By language, how often each mark is right. judge: the model that reads the lines; what it
    says of the labelled ones is kept in `out`, and asked for once. None: the rules do.
    """
    if judge is None:
        return {code: checked(code) for code in languages}
    file = out / FILE
    kept = json_data(file_bytes(file)) if file.exists() else {}
    marks = kept.get("marks", {}) if kept.get("judge") == judge else {}
    if missing := [code for code in languages if code not in marks]:
        models = Switchboard({"judge": open_chat(judge)}, open_embed("scripted"))
        try:
            found = models.ask({code: checked_judge(code) for code in missing})
        finally:
            models.close()
        marks |= {
            code: {name: one.model_dump() for name, one in outcome.value.items()}
            for code, outcome in found.items()
        }
        out.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps({"judge": judge, "marks": marks}, indent=1))
    return {
        code: {name: Checked.model_validate(one) for name, one in marks[code].items()}
        for code in languages
    }
