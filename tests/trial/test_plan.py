"""A trial is not served without those who answer for it."""

import re
from pathlib import Path

import pytest

from simcounsel.errors import SpecError, StudyError
from simcounsel.trial.opening import begin
from simcounsel.trial.plan import load_trial
from simcounsel.trial.running import questionnaires_of
from tests.trial.stage import running, written


def test_a_new_trial_says_what_is_to_be_filled_in(tmp_path: Path) -> None:
    begin(tmp_path, 3, open_link=False)
    with pytest.raises(SpecError) as wrong:
        load_trial(tmp_path)
    said = str(wrong.value)
    for what in ("contact", "watched", "locale", "organisation"):
        assert re.search(rf"trial\.yaml:\d+: {what}", said), said
    with pytest.raises(StudyError, match="is there already"):
        begin(tmp_path, 3, open_link=False)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"contact": "contact: {name: Ada}"}, "an `email` or a `phone`"),
        ({"watched": 'watched: "somebody"'}, "at least 20"),
        ({"locale": "locale: default"}, "name the country"),
        ({"locale": "locale: xx-XX"}, "no help lines for 'xx-XX'"),
        ({"languages": "languages: [de]"}, "languages"),
        ({"allocation": "allocation: {by: [gad7.g1x]}"}, None),
        ({"screen": "screen: [{item: isi.total, at_least: 1}]"}, "isi is not among the questions"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, changes: dict[str, str], says: str | None) -> None:
    written(tmp_path, **changes)
    with pytest.raises(SpecError) as wrong:
        questionnaires_of(load_trial(tmp_path), tmp_path)
    assert says is None or says in str(wrong.value)


def test_a_sealed_trial_is_not_changed_unseen(tmp_path: Path) -> None:
    written(tmp_path)
    with running(tmp_path) as found:
        head = found.store.head
    plan = (tmp_path / "preregistration.md").read_text(encoding="utf-8")
    assert "naturalness" in plan and "SHA-256" in plan and "block" in plan
    with running(tmp_path) as found:
        assert found.store.head == head, "nothing is sealed twice"
    file = tmp_path / "trial.yaml"
    file.write_text(file.read_text().replace("lines: 8", "lines: 10"))
    again = running(tmp_path)
    with pytest.raises(StudyError, match=r"sealed.*trial\.talks\.lines.*--amend"), again:
        pass


def test_secrets_are_for_their_owner_alone(tmp_path: Path) -> None:
    password = written(tmp_path)
    assert (tmp_path / "private").stat().st_mode & 0o077 == 0
    everything = b"".join(one.read_bytes() for one in tmp_path.rglob("*") if one.is_file())
    assert password.encode() not in everything
    assert len(password) >= 16
    links = (tmp_path / "private" / "links.csv").read_text().splitlines()[1:]
    tokens = {line.rsplit("/", 1)[1] for line in links}
    assert len(tokens) == 6 and all(len(one) >= 22 for one in tokens), "128 bits each"
