"""Words in all that was said, thought, remembered and planned in a run; what people remember that
is near to them in meaning.
"""

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from simcounsel.errors import RunError
from simcounsel.measuring.meaning import MeaningSearch, may_cost, vectors_of
from simcounsel.measuring.models import need_weights
from simcounsel.runs.history import History
from simcounsel.runs.run import Run

Fields = dict[str, Any]
MOST = 200
"""So many hits are told; of the others, how many there are."""
LONGEST = 4000
"""Characters of a text that are told."""


def search(history: History, words: str) -> Fields:
    """Where all these words stand, in order of simulated time; case and accents do not count.

    `hits`: each with its tick, what it is (line, memory, thought, plan), who, the text, and where
    it is shown: the conversation and number of a line, the event's number. `all`: how many there
    are, `hits` holds no more than MOST.
    """
    wanted = folded(words).split()
    hits: list[Fields] = []
    count = 0
    if wanted:
        for fields in history.log.fields(tuple(_TEXTS)):
            what, texts = _TEXTS[fields["kind"]]
            for text in texts(fields):
                there = folded(text)
                if not all(word in there for word in wanted):
                    continue
                count += 1
                if len(hits) < MOST:
                    hits.append(_hit(fields, what, text))
    return {"hits": hits, "all": count}


def nearest(history: History, words: str, meaning: MeaningSearch) -> Fields:
    """The memories that are nearest in meaning to the words, the nearest first, as `search` tells
    its hits: `who` is the first of `all` who remember it, `nearness` a cosine, `times` how often it
    was laid down. `all`: how many memories were searched. `model`: that made the vectors. RunError,
    WeightsError, ModelError when there can be no search: a page fetches nothing, costs nothing.
    """
    log = history.log
    run = Run.open(log.folder, damaged=True)
    model = vectors_of(run)
    if may_cost(model):
        raise RunError(
            f"the vectors of this run are made by {model}, which may cost money; search in a"
            f" terminal: `simcounsel show {log.folder} --search WORDS`"
        )
    need_weights({"embed": model})
    found = meaning.search(run, words, log=log)
    hits = [
        {
            "tick": one.tick,
            "seq": one.seq,
            "what": _TYPES.get(one.type, "memory"),
            "who": one.who[0],
            "all": one.who,
            "text": one.text[:LONGEST],
            "chat": one.chat,
            "message": one.message,
            "nearness": round(one.nearness, 4),
            "times": one.times,
        }
        for one in found.found
    ]
    return {"hits": hits, "all": found.memories, "model": model, "note": found.note}


_TYPES = {"chat": "line", "thought": "thought", "day_plan": "plan", "slot": "plan"}


def folded(text: str) -> str:
    """Without case, accents and the width of letters: what a search compares."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(one for one in apart if not unicodedata.combining(one))


def _hit(fields: Mapping[str, Any], what: str, text: str) -> Fields:
    memory = fields.get("memory")
    return {
        "tick": fields.get("tick"),
        "seq": fields.get("seq"),
        "what": what,
        "who": fields.get("who") or (memory or {}).get("who"),
        "text": text[:LONGEST],
        "chat": fields.get("chat"),
        "message": fields.get("message"),
    }


def _thoughts(fields: Mapping[str, Any]) -> Iterator[str]:
    """What a counselor thinks before a line, as one text."""
    yield " ".join(str(fields.get(key, "")) for key in ("assessment", "client_state", "strategy"))


_TEXTS: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], Iterator[str]]]] = {
    "said": ("line", lambda fields: iter([str(fields.get("text", ""))])),
    "remembered": ("memory", lambda fields: iter([str(fields["memory"].get("text", ""))])),
    "reasoned": ("thought", _thoughts),
    "noted": ("thought", lambda fields: iter([str(fields.get("text", ""))])),
    "client_shifted": ("thought", lambda fields: iter([str(fields.get("held_back") or "")])),
    "reflected": (
        "thought",
        lambda fields: (str(one.get("text", "")) for one in fields.get("insights", ())),
    ),
    "planned": (
        "plan",
        lambda fields: (f"{one['at']} {one['do']}" for one in fields.get("strokes", ())),
    ),
}
"""By kind of event: what a text of it is called, and its texts."""
