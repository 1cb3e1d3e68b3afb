"""A trial before its first person: what it may not be without, and what is hashed and dated."""

import hashlib
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from simcounsel.disk import csv_text, write_whole
from simcounsel.engine.opening import prompt_hashes, versions
from simcounsel.errors import StudyError
from simcounsel.trial.allocation import seal_of
from simcounsel.trial.gate import password_hash
from simcounsel.trial.plan import Trial
from simcounsel.trial.questions import Questionnaire
from simcounsel.trial.store import Store
from simcounsel.trial.texts import all_texts

SECRETS = "private/secrets.json"
PLAN = "preregistration"


def plan_of(trial: Trial, questionnaires: Mapping[str, Questionnaire]) -> dict[str, Any]:
    """All that decides a trial, in full; addresses of mail servers do not."""
    return {
        "trial": trial.model_dump(mode="json", exclude={"mail", "remind_at"}, exclude_none=True),
        "questionnaires": {
            id: one.scale.hash if one.scale else one.of(trial.languages[0]).model_dump(mode="json")
            for id, one in questionnaires.items()
        },
        "texts": hash_of_plan({one: all_texts(one) for one in trial.languages}),
        "versions": versions(),
        "prompts": hash_of_plan(prompt_hashes()),
    }


def hash_of_plan(data: Mapping[str, Any]) -> str:
    """SHA-256 of what is in it, whatever the order."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def seal(
    trial: Trial,
    questionnaires: Mapping[str, Questionnaire],
    store: Store,
    amend: str | None = None,
) -> None:
    """The first time: make the allocation's lists, write down the plan and all hashes, and a file
    to preregister. Later: StudyError where the plan is another, unless `amend` says why.
    """
    plan = plan_of(trial, questionnaires)
    sealed = [one for one in store.events() if one.kind in ("sealed", "amended")]
    if not sealed:
        seed = secrets.token_hex(16)
        hashes = seal_of(trial, seed, questionnaires) | {"plan": hash_of_plan(plan)}
        happened = store.write("", "sealed", allocation_seed=seed, hashes=hashes, plan=plan)
        _preregister(store.folder, trial, plan, hashes, happened.at.isoformat(timespec="seconds"))
        return
    before = sealed[-1].data["plan"]
    if hash_of_plan(before) == hash_of_plan(plan):
        return
    changed = ", ".join(_changed(before, plan))
    if amend is None:
        raise StudyError(
            f"{store.folder / 'trial.yaml'}: changed since it was sealed,"
            f" {sealed[-1].at:%Y-%m-%d %H:%M} UTC ({changed}); put it back, or say why:"
            " --amend 'the consent was too long'"
        )
    store.write("", "amended", why=amend, changed=changed, plan=plan)


def _changed(before: Mapping[str, Any], after: Mapping[str, Any], at: str = "") -> list[str]:
    found = []
    for key in sorted({*before, *after}):
        one, two = before.get(key), after.get(key)
        if isinstance(one, dict) and isinstance(two, dict):
            found += _changed(one, two, f"{at}{key}.")
        elif one != two:
            found.append(f"{at}{key}")
    return found


def _preregister(
    folder: Path, trial: Trial, plan: Mapping[str, Any], hashes: Mapping[str, str], at: str
) -> None:
    """The plan as data, and as a text to upload."""
    whole = {"sealed": at, "hashes": dict(hashes), "plan": dict(plan)}
    write_whole(folder / f"{PLAN}.json", json.dumps(whole, indent=1, ensure_ascii=False))
    lines = [
        f"# {trial.title}: plan before the first person",
        "",
        f"Sealed {at} by simcounsel {plan['versions']['simcounsel']}."
        f" SHA-256 of the plan: `{hashes['plan']}`.",
        "",
        f"- Arms: {', '.join(arm.name for arm in trial.arms)}; {trial.entrance.people} people,"
        f" {trial.days} days, {trial.talks.a_day} talk a day of at most {trial.talks.lines} lines.",
        f"- Allocation: {trial.allocation.method}"
        + (f", stratified by {', '.join(trial.allocation.by)}" if trial.allocation.by else "")
        + f". SHA-256 of the lists `{hashes['lists']}`, of their seed `{hashes['seed']}`."
        " Nobody who meets participants sees the lists, or an arm.",
        f"- Asked before: {', '.join(trial.questions.before)}; after each talk:"
        f" {', '.join(trial.questions.after_each) or 'nothing'}; at the end:"
        f" {', '.join(trial.questions.after)}.",
        "- Left out before allocation: "
        + "; ".join(f"{one.item} at {one.at_least:g} or more" for one in trial.screen),
        "",
        "## Planned tests",
        "",
        *(
            f"- {one.id}: {one.instrument} {one.score}, {' against '.join(one.contrast)},"
            f" {one.test}, {one.direction}, alpha {one.alpha:g}. {one.says}".rstrip()
            for one in trial.hypotheses
        ),
        *(["None was planned."] if not trial.hypotheses else []),
        "",
        "## The plan in full",
        "",
        "```yaml",
        yaml.safe_dump(plan["trial"], sort_keys=False, allow_unicode=True, width=100).rstrip(),
        "```",
        "",
    ]
    write_whole(folder / f"{PLAN}.md", "\n".join(lines))


def make_secrets(folder: Path) -> str:
    """A password for the coordinator's page, and a code for an open link; what is kept of the
    password is its hash. Returns the password.
    """
    password, salt = secrets.token_urlsafe(12), secrets.token_hex(8)
    kept = {
        "salt": salt,
        "password": password_hash(password, salt),
        "code": secrets.token_urlsafe(16),
    }
    (folder / "private").mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(folder / SECRETS, json.dumps(kept))
    return password


def new_password(folder: Path) -> str:
    """Another password; the code of the open link stays."""
    code = read_secrets(folder)["code"]
    password = make_secrets(folder)
    kept = read_secrets(folder) | {"code": code}
    write_whole(folder / SECRETS, json.dumps(kept))
    return password


def read_secrets(folder: Path) -> dict[str, str]:
    """Salt, hash and code. StudyError where there are none."""
    try:
        found: dict[str, str] = json.loads((folder / SECRETS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise StudyError(
            f"{folder / SECRETS}: cannot be read; `simcounsel trial password {folder}` makes a new"
            " password"
        ) from None
    return found


def write_links(store: Store) -> Path:
    """Everybody's link and address in a file, and the open link in another."""
    rows = ((one.code, one.contact or "", f"/t/{one.token}") for one in store.people())
    file = store.folder / "private" / "links.csv"
    write_whole(file, csv_text(("code", "email", "link"), rows))
    code = read_secrets(store.folder)["code"]
    write_whole(store.folder / "private" / "open_link.txt", f"/join?code={code}\n")
    return file
