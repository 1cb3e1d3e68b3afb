"""What a participant's page shows, as JSON; the pages know nothing else."""

import hashlib
from collections.abc import Mapping
from typing import Any

from simcounsel.chance import chance
from simcounsel.trial.person import Participant, TrialTalk
from simcounsel.trial.plan import LANGUAGES, Trial
from simcounsel.trial.running import LINE_CHARACTERS, Running
from simcounsel.trial.texts import (
    consent_items,
    direction,
    help_lines,
    page_texts,
    template,
    title_of,
)

Page = tuple[str, dict[str, Any]]
NAMES = {
    "en": "Robin Sam Alex Jamie Kim Noor Charlie Ari Rowan Toni Lee Sasha Quinn Jules Remy Eden",
    "zh": "小林 小雨 小安 小禾 小舟 小南 小乔 小墨 小夏 小白 小树 小川 小宁 小叶 小岚 小远",
    "fa": "رها سپهر مهر نور باران ساحل آسمان شبنم ماهان آریا نیکی سپیده روشن صبا دریا امید",
}
"""That are offered for the talks, by language; each for anybody."""
OFFERED = 3


def state_of(running: Running, who: Participant) -> dict[str, Any]:
    """Where somebody is, and what they are asked."""
    trial, now = running.trial, running.now()
    stage, page = stage_of(running, who)
    language = running.language(who)
    day = who.day(now)
    return {
        "stage": stage,
        "me": hashlib.sha256(f"{trial.name}{who.code}".encode()).hexdigest()[:12],
        "language": language,
        "dir": direction(language),
        "languages": [[code, LANGUAGES[code]] for code in trial.languages],
        "title": title_of(trial, language),
        "help": help_lines(trial, language),
        "contact": trial.contact.said,
        "day": min(day, trial.days) if day else None,
        "days": trial.days,
        "progress": _progress(running, who) if stage == "questions" else None,
        "notice": who.notice,
        "page": page,
    }


def stage_of(running: Running, who: Participant) -> Page:
    """The stage, and what its page needs."""
    trial, language = running.trial, running.language(who)

    def text(key: str, **slots: object) -> dict[str, Any]:
        helping = help_lines(trial, language)
        return {"text": template(trial, key, language, help=helping, **slots)}

    if who.withdrawn:
        return "withdrawn", {"text": page_texts(language)[f"withdrawn_{who.withdrawn}"]}
    if who.agreed is False:
        return "declined", {"text": page_texts(language)["declined"]}
    if running.paused or who.paused:
        return "paused", {"text": page_texts(language)["paused"]}
    if who.language is None and len(trial.languages) > 1:
        return "language", {}
    if not who.informed:
        return "information", text("information") | {"version": trial.version}
    if not who.agreed:
        items = consent_items(language)
        return "consent", text("consent") | {"version": trial.version, "items": items}
    if who.name is None:
        return "about_you", {"names": _names(running, who)}
    if who.excluded:
        return "excluded", text("excluded") | {"help": help_lines(trial, language)}
    return _in_the_trial(running, who)


def _in_the_trial(running: Running, who: Participant) -> Page:
    trial, language, now = running.trial, running.language(who), running.now()
    talk, day = who.talk, who.day(now)
    if talk and not talk.left and (talk.day == day or not talk.over):
        if running.over_budget(who):
            return "over_budget", {"text": page_texts(language)["over_budget"]}
        return "chat", talk_of(running, who, talk)
    due = next(iter(who.left_to_ask(trial, now)), None)
    if due:
        id, point = Trial.id_of(due[0]), due[1]
        return "questions", running.questionnaires[id].page(language, point)
    if who.arm is None:
        return "wait", {"text": page_texts(language)["full"], "again": None}
    if who.finished(trial, now):
        entrance = trial.entrance
        return "done", {
            "text": template(trial, "debriefing", language, help=help_lines(trial, language)),
            "code": entrance.finish_code,
            "url": entrance.finish_url,
        }
    if running.over_budget(who):
        return "over_budget", {"text": page_texts(language)["over_budget"]}
    waits = trial.arm(who.arm).waits
    told = (
        template(trial, "waiting", language, help=help_lines(trial, language))
        if waits
        else page_texts(language)["tomorrow"]
    )
    return "wait", {"text": told, "again": running.again(who).isoformat()}


def talk_of(running: Running, who: Participant, talk: TrialTalk, after: int = 0) -> dict[str, Any]:
    """A talk as its page has it, with the lines after number `after`."""
    note = None
    if running.talking and who.code in running.talking.troubled:
        note = page_texts(running.language(who))["outage"]
    return {
        "number": talk.number,
        "lines": [line.shown() for line in talk.lines if line.n > after],
        "awaiting": talk.awaiting and not talk.ending,
        "characters": LINE_CHARACTERS,
        "over": talk.over,
        "may_end": bool(talk.lines),
        "notice": who.notice,
        "note": note,
    }


def _progress(running: Running, who: Participant) -> list[int]:
    left = list(who.left_to_ask(running.trial, running.now()))
    point = left[0][1]
    same = sum(one == point for _, one in left)
    done = sum(one == point for _, one in who.answers)
    return [done + 1, done + same]


def _names(running: Running, who: Participant) -> list[str]:
    """Names to be called by, which nobody has yet."""
    taken = {one.name for one in running.people.values()}
    names = NAMES[running.language(who)].split()
    pairs = (f"{one}-{two}" for one in names for two in names if one != two)
    free = [one for one in (*names, *pairs) if one not in taken][: len(names)]
    return chance(running.trial.name, "names", who.code).sample(free, min(OFFERED, len(free)))


def watch_of(running: Running) -> dict[str, Any]:
    """What the coordinator sees: nobody's name, and nobody's arm."""
    people = [one for _, one in sorted(running.people.items())]
    calls, usd = running.spent
    alerts = [
        {"seq": seq, "code": who.code, "help_shown": True}
        | {key: alert[key] for key in ("at", "level", "kinds", "what", "text", "acknowledged")}
        for who in people
        for seq, alert in who.alerts.items()
    ]
    return {
        "seq": max((one.seq for one in people), default=0),
        "title": running.trial.title,
        "now": running.now().isoformat(),
        "paused": running.paused,
        "moved_days": running.moved_days,
        "planned": running.trial.entrance.people,
        "counts": _counts(running, people),
        "spent": {"calls": calls, "usd": usd, "budget_usd": running.trial.limits.usd},
        "model": _model(running),
        "people": [_row(running, one) for one in people],
        "alerts": sorted(alerts, key=lambda one: -one["seq"]),
    }


def _counts(running: Running, people: list[Participant]) -> dict[str, int]:
    now = running.now()
    return {
        "invited": len(people),
        "consented": sum(one.agreed is True for one in people),
        "declined": sum(one.agreed is False for one in people),
        "excluded": sum(one.excluded is not None for one in people),
        "allocated": sum(one.arm is not None for one in people),
        "done": sum(is_done(running, one, now) for one in people),
        "withdrawn": sum(one.withdrawn is not None for one in people),
        "lost": sum(one.lost for one in people),
    }


def is_done(running: Running, who: Participant, now: Any) -> bool:
    """Whether somebody has come to the end."""
    return (
        who.arm is not None
        and not who.withdrawn
        and who.finished(running.trial, now)
        and next(iter(who.left_to_ask(running.trial, now)), None) is None
    )


def _row(running: Running, who: Participant) -> dict[str, Any]:
    day = who.day(running.now())
    messages = [0] * running.trial.days
    for talk in who.talks:
        messages[talk.day - 1] += len(talk.own())
    open_alerts = sum(one["acknowledged"] is None for one in who.alerts.values())
    active = who.arm is not None and not who.withdrawn and day is not None
    return {
        "code": who.code,
        "stage": stage_of(running, who)[0],
        "day": min(day, running.trial.days) if day else None,
        "days": running.trial.days,
        "talks": len(who.talks),
        "messages": messages,
        "last": who.at.isoformat() if who.at else None,
        "paused": who.paused,
        "lost": who.lost,
        "alerts": len(who.alerts),
        "open_alerts": open_alerts,
        "behind": bool(active and day and 1 < day <= running.trial.days and not any(
            talk.day >= day - 1 for talk in who.talks
        )),
    }  # fmt: skip


def _model(running: Running) -> Mapping[str, Any]:
    troubled = running.talking.troubled if running.talking else {}
    problem = next(iter(troubled.values()), None)
    return {"ok": problem is None, "problem": problem, "waiting": len(troubled)}
