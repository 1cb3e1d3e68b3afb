"""What somebody does and thinks unseen stays their own: others in the same place see the act alone."""

import json
from pathlib import Path
from random import Random

from simcounsel.events import Acted, Perceived
from simcounsel.llm.question import Question
from tests.stage import NEVER, Listening, changed, happened, live, switchboard, three

PRIVATE = "changes her blouse twice and walks the last street again"
SEEN = "walks along the street"


def at_the_center(request: Question, draw: Random) -> str:
    mine = request.who == "Ines"
    slot = {
        "activity": PRIVATE if mine else "waters the plant",
        "seen": SEEN if mine else "",
        "kind": "leisure",
        "place": "Counseling Center",
        "emotion": "neutral",
        "intensity": 1,
        "poignancy": 1,
    }
    return json.dumps({"slots": [slot] * len(request.facts.minutes)})


def test_only_the_visible_act_is_in_others_prompts(tmp_path: Path) -> None:
    spy = Listening({"plan_slots": at_the_center})
    run = live(
        tmp_path, changed(three(), fallbacks=NEVER, appointments=()), 6, models=switchboard(spy)
    )
    sent = dict.fromkeys(("Ines", "Miriam", "Omar"), "")
    for request in spy.requests:
        if request.who in sent and request.verb != "embed":
            sent[request.who] += request.system + request.prompt
    assert PRIVATE in sent["Ines"]
    assert PRIVATE not in sent["Miriam"] + sent["Omar"]
    assert f"A woman whom Miriam does not know is here and {SEEN}" in sent["Miriam"]
    assert "Ines is here" not in sent["Miriam"], "they do not know each other"
    acts = {event.activity for event in happened(run, Acted) if event.who == "Ines"}
    assert PRIVATE in acts, "the log holds both"
    seen = {one.activity for event in happened(run, Perceived) for one in event.others}
    assert SEEN in seen and "waters the plant" in seen and PRIVATE not in seen
