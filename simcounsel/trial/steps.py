"""What participants do on their pages, and whoever watches: one step at a time."""

from collections.abc import Callable, Mapping
from typing import Any

from simcounsel.intake import whole_characters
from simcounsel.trial.person import Participant
from simcounsel.trial.plan import Trial
from simcounsel.trial.running import Running, Wrong
from simcounsel.trial.stages import is_done
from simcounsel.trial.texts import consent_items

NAME_CHARACTERS = 30
Step = Callable[[Running, Participant, Mapping[str, Any]], None]


def do(running: Running, code: str, body: Mapping[str, Any]) -> None:
    """One step of a participant. Wrong says why it cannot be taken."""
    who, what = running.people[code], body.get("do")
    step = STEPS.get(str(what))
    if step is None:
        raise Wrong(running.said(who, "unknown_step"))
    with running.lock(code):
        if who.withdrawn:
            raise Wrong(running.said(who, "over"), late=True)
        step(running, who, body)
        running.settle(who)


def _once(running: Running, done: bool, who: Participant, kind: str, **data: Any) -> None:
    if not done:
        running.happen(who.code, kind, **data)


def _information(running: Running, who: Participant, body: Mapping[str, Any]) -> None:
    _once(running, who.informed, who, "informed")


def _language(running: Running, who: Participant, body: Mapping[str, Any]) -> None:
    if body.get("language") not in running.trial.languages:
        raise Wrong(running.said(who, "unknown_step"))
    running.happen(who.code, "spoke", language=body["language"])


def _consent(running: Running, who: Participant, body: Mapping[str, Any]) -> None:
    if body.get("agree") is not True:
        _once(running, who.agreed is not None, who, "consented", agree=False)
        return
    wanted = {id for id, _ in consent_items(running.language(who))}
    if not wanted <= set(body.get("ticked") or ()):
        raise Wrong(running.said(who, "tick_all"))
    if body.get("version") != running.trial.version:
        raise Wrong(running.said(who, "consent_changed"))
    _once(
        running,
        who.agreed is True,
        who,
        "consented",
        agree=True,
        version=running.trial.version,
        language=running.language(who),
        ticked=sorted(wanted),
    )


def _name(running: Running, who: Participant, body: Mapping[str, Any]) -> None:
    text = whole_characters(str(body.get("name") or "")).replace("\u200c", "")
    name = "-".join("".join(c for c in text if c.isalpha() or c in " '’-").split())
    if not name or len(name) > NAME_CHARACTERS or not name[0].isalpha():
        raise Wrong(running.said(who, "name_wrong"))
    partners = (running.trial.with_whom, *(arm.with_whom for arm in running.trial.arms))
    offset = body.get("offset_min")
    with running.door:
        others = (one.name for one in running.people.values() if one is not who)
        if name.casefold() in {one.casefold() for one in (*others, *partners) if one}:
            raise Wrong(running.said(who, "name_taken"))
        _once(
            running,
            who.name is not None,
            who,
            "named",
            name=name,
            zone=str(body.get("zone") or "UTC")[:60],
            offset_min=offset if isinstance(offset, int) and abs(offset) <= 840 else 0,
        )


def _answers(running: Running, who: Participant, body: Mapping[str, Any]) -> None:
    id, point, given = body.get("id"), body.get("point"), body.get("answers")
    due = next(iter(who.left_to_ask(running.trial, running.now())), None)
    if (id, point) in who.answers:
        return
    if due is None or (Trial.id_of(due[0]), due[1]) != (id, point):
        raise Wrong(running.said(who, "answers_late"), late=True)
    asked = running.questionnaires[str(id)]
    if not isinstance(given, dict) or (wrong := asked.wrong(given)):
        raise Wrong(running.said(who, "answers_wrong") + f" ({', '.join(wrong)})")
    seconds = body.get("seconds")
    running.happen(
        who.code,
        "answered",
        id=id,
        point=point,
        answers=given,
        language=running.language(who),
        seconds=seconds if isinstance(seconds, int | float) else None,
        checks_failed=asked.checks_failed(given),
    )
    running.look_for_danger(who, asked, given)


def _next(running: Running, who: Participant, body: Mapping[str, Any]) -> None:
    talk = who.talk
    if talk and talk.over and not talk.left:
        running.happen(who.code, "left")
    elif is_done(running, who, running.now()):
        _once(running, who.debriefed, who, "debriefed")


def _end_talk(running: Running, who: Participant, body: Mapping[str, Any]) -> None:
    talk = who.talk
    if talk and not talk.over and not talk.ending:
        running.happen(who.code, "ended", by="participant")
        running.go_on(who)


def _withdraw(running: Running, who: Participant, body: Mapping[str, Any]) -> None:
    running.withdraw(who.code, delete=body.get("delete") is True, by="participant")


STEPS: dict[str, Step] = {
    "language": _language,
    "information": _information,
    "consent": _consent,
    "about_you": _name,
    "answers": _answers,
    "next": _next,
    "end_talk": _end_talk,
    "withdraw": _withdraw,
}


# what the coordinator does


def coordinate(running: Running, body: Mapping[str, Any]) -> None:
    """One step of whoever watches. Wrong says why it cannot be taken."""
    what, code = body.get("do"), body.get("code")
    if what in ("pause", "go_on") and code is None:
        running.happen("", "paused_all", paused=what == "pause")
        for who in running.people.values():
            running.go_on(who)
        return
    if what == "acknowledge":
        _acknowledge(running, body)
        return
    if code not in running.people:
        raise Wrong(f"nobody has the code {str(code)[:20]!r}")
    if what in ("pause", "go_on"):
        running.happen(str(code), "paused", paused=what == "pause")
        running.go_on(running.people[str(code)])
    elif what == "withdraw":
        running.withdraw(str(code), delete=body.get("delete") is True, by="coordinator")
    elif what == "lost":
        running.happen(str(code), "lost")
    else:
        raise Wrong(f"no step {str(what)[:20]!r}")


def _acknowledge(running: Running, body: Mapping[str, Any]) -> None:
    seq, by, note = body.get("seq"), str(body.get("by") or ""), str(body.get("note") or "")
    who = next((one for one in running.people.values() if seq in one.alerts), None)
    if who is None:
        raise Wrong("no alert of that number")
    if not by.strip() or not note.strip():
        raise Wrong("initials, and a note of what was done, are needed")
    running.happen(who.code, "acknowledged", seq=seq, by=by.strip()[:20], note=note.strip()[:2000])
