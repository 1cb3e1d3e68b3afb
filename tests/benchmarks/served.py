"""The benchmarks' model server: the tests' fault server, in a process of its own, with the answers of a sensible model.

    python -m tests.benchmarks.served --latency-ms 100 --in-flight-max 8      (prints its address, then serves)

How many requests a day takes depends on what a model answers. Here an activity lasts half an hour
to an hour, people sleep from half past ten to half past six, everyday things are of poignancy 1 to
4, one talk in twelve moves somebody deeply, one line in ten takes leave.
"""

import argparse
import asyncio
import contextlib
import json
import random
import re
from collections.abc import Callable
from typing import Any

from tests.llm.server import Body, Fault, FaultServer

WORDS = (
    "garden letter morning kettle street quiet sister window exam train evening walk bread answer worry promise table rain doctor friend "
    "night phone office music coat bridge lamp river story brother"
).split()
EVERYDAY = ((1, 40), (2, 25), (3, 15), (4, 9), (5, 5), (6, 3), (7, 2), (8, 1))
TALK = ((2, 25), (3, 25), (4, 20), (5, 12), (6, 10), (7, 6), (8, 2))
DAY = (
    ("00:00", "sleep", "Bedroom", ("sleeps",)),
    ("06:30", "care", "Bedroom", ("washes and dresses", "makes the bed")),
    ("07:15", "meal", "Kitchen", ("has breakfast", "makes tea and toast")),
    ("08:00", "work", "Living Room", ("works at the table", "answers letters")),
    ("12:00", "meal", "Kitchen", ("has lunch", "eats soup")),
    ("13:00", "errand", "Market", ("buys vegetables", "looks at the stalls")),
    ("14:00", "work", "Living Room", ("works on papers", "sorts the mail", "makes calls")),
    ("16:30", "exercise", "Willow Park", ("walks in the park", "sits by the pond")),
    ("18:00", "meal", "Kitchen", ("cooks supper", "has supper")),
    ("19:30", "leisure", "Living Room", ("reads", "listens to the radio", "watches a film")),
    ("22:30", "sleep", "Bedroom", ("sleeps",)),
)


def sensible(body: Body) -> str:
    """An answer that fits what was asked; the same for the same messages and seed."""
    told = "\n".join(str(message["content"]) for message in body["messages"])
    rng = random.Random(f"{body.get('seed')} {told}")
    name = body.get("response_format", {}).get("json_schema", {}).get("name")
    if name in _ANSWERS:
        return json.dumps(_ANSWERS[name](told, rng))
    if "Choose one of" in told:
        listed = told.rsplit("Choose one of", 1)[1].split("\n\n")[0]
        options = re.findall(r"^(\d+)\. (.*)$", listed, re.MULTILINE)
        safe = [number for number, option in options if option.startswith("none")]
        return safe[0] if safe else str(rng.randint(1, len(options)))
    return _sentence(rng)


def _sentence(rng: random.Random) -> str:
    return (
        "I was thinking about the {} and the {}, and that the {} was not as it should be.".format(
            *rng.sample(WORDS, 3)
        )
    )


def _feeling(rng: random.Random, poignancy: tuple[tuple[int, int], ...]) -> Body:
    calm = rng.random() < 0.6
    return {
        "emotion": "neutral"
        if calm
        else rng.choice(("joy", "trust", "fear", "sadness", "anger", "anticipation")),
        "intensity": rng.randint(1, 3) if calm else rng.randint(3, 7),
        "poignancy": rng.choices(*zip(*poignancy, strict=True))[0],
    }


def _day(told: str, rng: random.Random) -> Body:
    """Five to eight strokes."""
    always = ("07:15", "12:00", "14:00", "18:00", "22:30")
    return {
        "strokes": [
            {"at": at, "do": rng.choice(acts)}
            for at, _, _, acts in DAY[1:]
            if rng.random() < 0.6 or at in always
        ][:8]
    }


def _rest_of_day(told: str, rng: random.Random) -> Body:
    """From now on: the hour is in the prompt's first sentence of the day."""
    now = re.findall(r"It is \w+ \d+ \w+, (\d\d:\d\d)", told)[-1]
    later = [stroke for stroke in _day(told, rng)["strokes"] if str(stroke["at"]) > now]
    return {"strokes": [{"at": now, "do": "goes on with the day"}, *later]}


def _block(told: str, rng: random.Random) -> Body:
    found = re.search(r"next (\d+) slots of (\d+) minutes, beginning at (\d\d):(\d\d)", told)
    assert found, "no slots are asked for"
    count, length, hour, minute = map(int, found.groups())
    places = re.findall(
        r"^- (.+)$", told.split("Reachable places:")[1].split("\n\n")[0], re.MULTILINE
    )
    who = re.findall(r"^It is .*\. (\S+) is (?:at|in) ", told, re.MULTILINE)[-1]
    slots: list[Body] = []
    until = 0
    for at in range(hour * 60 + minute, hour * 60 + minute + count * length, length):
        kind, place, acts = next(
            (k, p, a) for t, k, p, a in reversed(DAY) if int(t[:2]) * 60 + int(t[3:]) <= at % 1440
        )
        last = slots[-1] if slots else None
        if last and at < until and last["kind"] == kind:
            slots.append(last)
            continue
        until = at + rng.choice((30, 45, 60))
        where = [p for p in places if p in (place, f"{who}'s {place}")] or places
        felt = _feeling(rng, EVERYDAY)
        slots.append({"activity": rng.choice(acts), "kind": kind, "place": where[0], **felt})
    return {"slots": slots}


def _feelings(told: str, rng: random.Random) -> Body:
    news = told.rsplit("did not expect there:", 1)[1].split("\n\n")[0]
    return {
        "feelings": [_feeling(rng, EVERYDAY) for _ in re.findall(r"^\d+\. ", news, re.MULTILINE)]
    }


def _line(told: str, rng: random.Random) -> Body:
    return {
        "say": _sentence(rng),
        "wish": "say goodbye" if rng.random() < 0.1 else "go on",
        **_feeling(rng, EVERYDAY),
    }


def _client_line(told: str, rng: random.Random) -> Body:
    """Nothing touches a belief, and openness goes up and down."""
    private = {"quote": "", "touched": "", "openness": rng.randint(3, 7), "held_back": ""}
    return _line(told, rng) | private


def _summary(told: str, rng: random.Random) -> Body:
    closeness = rng.choices(("less close", "as before", "closer", "much closer"), (1, 6, 3, 0.3))[0]
    return {
        "summary": f"They talked about the {rng.choice(WORDS)} and the {rng.choice(WORDS)}.",
        "closeness": closeness,
        **_feeling(rng, TALK),
    }


def _session_summary(told: str, rng: random.Random) -> Body:
    """Nothing was agreed."""
    return _summary(told, rng) | {"agreed": "", "agreed_quote": ""}


def _questions(told: str, rng: random.Random) -> Body:
    return {
        "questions": [
            f"What does the {word} mean to them these days?" for word in rng.sample(WORDS, 3)
        ]
    }


def _insights(told: str, rng: random.Random) -> Body:
    count = len(re.findall(r"^\d+\. ", told.rsplit("numbered:", 1)[1], re.MULTILINE))
    return {
        "insights": [
            {
                "text": f"They turn to the {rng.choice(WORDS)} when the {rng.choice(WORDS)} comes up.",
                "evidence": sorted(rng.sample(range(1, count + 1), min(2, count))),
                **_feeling(rng, TALK),
            }
            for _ in range(2)
        ]
    }


def _client_insights(told: str, rng: random.Random) -> Body:
    """No belief moves."""
    return _insights(told, rng) | {"beliefs": []}


def _portrait(told: str, rng: random.Random) -> Body:
    one, two, three = rng.sample(WORDS, 3)
    return {
        "characteristic": f"Thinks of the {one} before anything else and keeps the {two} for later.",
        "recent_feeling": f"Uneasy about the {three} of late, and patient.",
    }


def _extraction(told: str, rng: random.Random) -> Body:
    kinds = (
        ("character", "introduces"),
        ("plight", "describes"),
        ("plight", "describes"),
        ("plight", "feels"),
        ("plight", "remembers"),
        ("demand", "asks_for_help"),
        ("demand", "asks_for_advice"),
    )
    facts = [
        {"of": of, "stage": stage, "text": _sentence(rng), "invented": rng.random() < 0.3}
        for of, stage in kinds
    ]
    return {"theme": "other", "facts": facts}


def _seeker(told: str, rng: random.Random) -> Body:
    offered = re.findall(r"^(F\d+): ", told, re.MULTILINE)
    return {"line": _sentence(rng), "facts": offered[:1]}


def _supporter(told: str, rng: random.Random) -> Body:
    return {
        "reasoning": _sentence(rng),
        "stage": rng.choice(("listening", "exploring")),
        "skill": "open question",
        "strategies": [],
        "line": _sentence(rng),
    }


def _evaluation(told: str, rng: random.Random) -> Body:
    """One line in ten is to be revised; after the seventh line a session has a one in three chance to end."""
    qualities = (
        "confidentiality",
        "objectivity",
        "sympathy",
        "specialization",
        "feasibility",
        "listening",
        "collaboration",
        "tenderness",
        "respect",
    )
    revise = rng.random() < 0.1
    return {
        **{quality: rng.randint(5, 9) for quality in qualities},
        "revise": revise,
        "advice": _sentence(rng) if revise else "",
        "go_on": told.count("Counselor: ") < 6 or rng.random() < 0.67,
    }


def _distilled(told: str, rng: random.Random) -> Body:
    return {"strategies": [_sentence(rng)]}


_ANSWERS: dict[str, Callable[[str, random.Random], Body]] = {
    "DayAnswer": _day,
    "RestOfDayAnswer": _rest_of_day,
    "BlockAnswer": _block,
    "FeelingsAnswer": _feelings,
    "LineAnswer": _line,
    "ClientLineAnswer": _client_line,
    "SummaryAnswer": _summary,
    "SessionSummaryAnswer": _session_summary,
    "QuestionsAnswer": _questions,
    "InsightsAnswer": _insights,
    "ClientInsightsAnswer": _client_insights,
    "PortraitAnswer": _portrait,
    "Extraction": _extraction,
    "SeekerLine": _seeker,
    "SupporterLine": _supporter,
    "Evaluation": _evaluation,
    "Distilled": _distilled,
    "RiskAnswer": lambda told, rng: {"level": "none"},
}


def mixed_faults(stall_at: int | None) -> Callable[[int], Fault | None]:
    """2% HTTP 400, 2% HTTP 500, 2% that is no JSON, and one stall at that request; None for no stall."""

    def fault(index: int) -> Fault | None:
        if index == stall_at:
            return "stall"
        drawn = random.Random(f"fault {index}").random()
        return (
            "400"
            if drawn < 0.02
            else "500"
            if drawn < 0.04
            else "garbage"
            if drawn < 0.06
            else None
        )

    return fault


class Staller(FaultServer):
    """A fault server whose stalls end: after `stall_s` the line is cut without an answer."""

    stall_s = 30.0

    async def _fail(self, request: Any, fault: Fault) -> Any:
        if fault != "stall":
            return await super()._fail(request, fault)
        await asyncio.sleep(self.stall_s)
        return await super()._fail(request, "drop")


def main() -> None:
    """Serve until ended; the first line of output is the address."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.served", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--latency-ms", type=float, default=100.0)
    parser.add_argument(
        "--in-flight-max", type=int, default=None, help="so many at once; the others wait"
    )
    parser.add_argument(
        "--faults", action="store_true", help="2%% HTTP 400, 2%% HTTP 500, 2%% broken JSON"
    )
    parser.add_argument(
        "--stall-at",
        type=int,
        default=None,
        help="the request that gets no answer for --stall-s seconds",
    )
    parser.add_argument("--stall-s", type=float, default=30.0)
    told = parser.parse_args()
    server = Staller(
        latency_s=told.latency_ms / 1000,
        in_flight_max=told.in_flight_max,
        port=told.port,
        answer=sensible,
        faults=mixed_faults(told.stall_at) if told.faults else None,
    )
    server.stall_s = told.stall_s
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(server.serve(on_ready=lambda url: print(url, flush=True)))


if __name__ == "__main__":
    main()
