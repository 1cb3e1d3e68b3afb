"""Blind rating studies: what raters see, what is kept, what comes out."""

import csv
import json
import re
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given as given_text
from hypothesis import strategies as st
from starlette.testclient import TestClient
from typer.testing import CliRunner

from simcounsel.cli import app as command_line
from simcounsel.errors import RunError, SpecError, StudyError
from simcounsel.runs.call_chain import EDITED, MISPLACED, CallChain
from simcounsel.runs.run import Run
from simcounsel.studies.answers import (
    Answer,
    append,
    damaged_answers,
    import_answers,
    last_answers,
    read_answers,
)
from simcounsel.studies.instrument import load_instrument, shipped
from simcounsel.studies.items import Choice
from simcounsel.studies.making import checks_of, make_study, order_of
from simcounsel.studies.offline import offline_page
from simcounsel.studies.platforms import FILES, write_for
from simcounsel.studies.site import make_rating_app
from simcounsel.studies.study import (
    Key,
    Origin,
    Rater,
    Shown,
    Study,
    open_key,
    open_study,
    write_study,
    write_whole,
)
from simcounsel.studies.study_lines import state_lines
from simcounsel.studies.study_parts import Line
from simcounsel.studies.table import rows, write_csv
from simcounsel.texts.blinding import ORDINARY, Blinding
from simcounsel.viewer.guard import BODY_BYTES
from tests.each import each
from tests.stage import begun
from tests.studies.studies import HOSTILE, instrument, lived, made


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs of two conditions."""
    folder = tmp_path_factory.mktemp("rated") / "runs"
    lived(folder, condition="everyone")
    lived(folder, condition="client_counselor", seed=2)
    return folder


@pytest.fixture
def folder(runs: Path, tmp_path: Path) -> Path:
    """A study of their transcripts for two raters."""
    made(runs, tmp_path / "study")
    return tmp_path / "study"


def site(folder: Path, *, host: str = "127.0.0.1", public: bool = False) -> TestClient:
    return TestClient(make_rating_app(folder, public=public), base_url=f"http://{host}")


def given(study: Study, **changes: Any) -> dict[str, Any]:
    """What the page sends for the first rater's first item."""
    fields: dict[str, Any] = {
        "item": study.raters[0].order[0],
        "answers": {"kind": 4, "real": None},
        "comment": "so",
        "seconds": 3.5,
    }
    return fields | changes


# instruments


@each("name", shipped())
def test_the_shipped_instruments_can_be_read(name: str) -> None:
    assert load_instrument(name).items


def test_a_wrong_instrument_is_told_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "title: T\ninstructions: I\nabout: transcript\nitems:\n  - {id: a, text: A, points: 12, low: l, high: h}\n",
        encoding="utf-8",
    )
    with pytest.raises(SpecError) as caught:
        load_instrument(str(file))
    assert (
        caught.value.problems[0]
        == f"{file}:3: about: 'transcript' is not one of transcripts, personas, persona and talk, recalls; did you mean 'transcripts'?"
    )
    assert caught.value.problems[1].startswith(f"{file}:5: items.0.points: 12: ")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"items": [{"id": "a", "text": "A", "low": "l", "high": "h"}] * 2},
            "two items have the id 'a'",
        ),
        ({"person": "B"}, "person and partner are both 'B'"),
        (
            {"items": [{"id": "a", "text": "A", "low": "l", "high": "h", "compares": True}]},
            "`compares` is for two whose order is hidden",
        ),
    ],
)
def test_an_instrument_that_contradicts_itself(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        instrument(**changes)


def test_an_unknown_instrument_has_a_remedy() -> None:
    with pytest.raises(SpecError, match="did you mean transcript_quality"):
        load_instrument("transcript_qualty")


# blinding


@each(
    ("text", "blind"),
    [
        ("Ines's tea, INES; ines-like. Inesita stays.", "A's tea, A; A-like. Inesita stays."),
        ("Dr. Miriam Osei and Osei", "Dr. B and B"),
        (
            "Omar Haddad met Haddad, then Lena and Omar.",
            "[person 1] met [person 1], then [person 2] and [person 1].",
        ),
        ("In Omar’s  Flat, then the counseling center", "In [place 1], then the [place 2]"),
        ("The Market is a market", "The [place 1] is a market"),
        ("a counselor, Counselling; a councillor", "a […], […]; a councillor"),
        ("Will will go", "[person 1] will go"),
        ("Zoe\u0308 sings", "[person 1] sings"),
        ("ſ İ K and Ines", "ſ İ K and A"),
    ],
)
def test_what_is_taken_out(text: str, blind: str) -> None:
    blinding = Blinding(
        {"Ines": "A", "Miriam Osei": "B"},
        others=["Omar Haddad", "Lena", "Will", "Zoë", "Ines"],
        places=["Omar's Flat", "Counseling Center", "Market"],
        words=["counsel*"],
    )
    assert blinding.text(text) == blind


@given_text(
    names=st.lists(
        st.text(st.characters(categories=["L"]), min_size=2, max_size=8), min_size=1, max_size=4
    ),
    between=st.text(max_size=20),
)
def test_no_name_stays_as_a_word(names: list[str], between: str) -> None:
    blind = Blinding({names[0]: "§"}, others=names).text(
        f" {between} ".join(["", *names, *(name.upper() for name in names), ""])
    )
    words = re.findall(r"\w+", blind)
    assert not [
        name
        for name in names
        if unicodedata.normalize("NFC", name) in words and name.lower() not in ORDINARY | {"person"}
    ]


def test_nothing_that_a_rater_gets_tells_where_it_comes_from(folder: Path, runs: Path) -> None:
    study = open_study(folder)
    told = [site(folder).get(f"/api/rate/{rater.token}").text for rater in study.raters]
    told += [file.read_text(encoding="utf-8") for file in (folder / "offline").iterdir()]
    telling = [
        "Ines",
        "Miriam",
        "Omar",
        "Counseling",
        "client_",
        "everyone",
        "counselor",
        "scripted",
        *(run.name for run in runs.iterdir()),
    ]
    for text in told:
        assert not [
            word for word in telling if re.search(rf"(?<!\w){re.escape(word)}", text, re.IGNORECASE)
        ]
    assert all(f'"{label}"' in told[0] for label in "AB")


def test_both_conditions_are_in_the_study_and_only_the_key_knows_which_is_which(
    folder: Path, runs: Path
) -> None:
    study, key = open_study(folder), open_key(folder)
    assert set(key.items) == {item.id for item in study.items} == set(study.raters[0].order)
    assert {origin.condition for origin in key.items.values()} == {"everyone", "client_counselor"}
    assert {origin.partner_role for origin in key.items.values()} == {"counselor", "layperson"}
    for origin in key.items.values():
        assert origin.chat in (runs / origin.run / "events.jsonl").read_text(encoding="utf-8")  # type: ignore[operator]


def test_the_key_is_never_served(folder: Path) -> None:
    client, token = site(folder), open_study(folder).raters[0].token
    for path in (
        "/key.json",
        "/study.json",
        "/rate/../key.json",
        f"/rate/{token}/key.json",
        "/static/../key.json",
        "/static/%2e%2e/key.json",
        f"/rate/{token}/../../key.json",
        "/rate/key.json",
        "/api/rate/key.json",
        "/answers.jsonl",
        "/",
        "/api/runs",
    ):
        assert client.get(path).status_code == 404, path


# making


def test_orders_differ_between_raters_and_come_again(runs: Path, tmp_path: Path) -> None:
    one, two = (made(runs, tmp_path / name, raters=8, seed=5) for name in "ab")
    assert [rater.order for rater in one.raters] == [rater.order for rater in two.raters]
    assert len({rater.order for rater in one.raters}) > 1
    assert one.items == two.items and one.study != two.study
    tokens = {rater.token for study in (one, two) for rater in study.raters}
    assert len(tokens) == 16 and all(len(token) >= 24 for token in tokens)
    ids = [f"T{n}" for n in range(20)]
    assert (
        order_of(ids, 5, "rater-01") == order_of(ids, 5, "rater-01") != order_of(ids, 6, "rater-01")
    )


def test_what_can_be_chosen(runs: Path, tmp_path: Path) -> None:
    def partners(name: str, **kind: Any) -> list[str | None]:
        made(runs, tmp_path / name, choice=Choice(fewest_lines=1, **kind))
        return [origin.partner_role for origin in open_key(tmp_path / name).items.values()]

    assert set(partners("lay", partners=("layperson",))) == {"layperson"}
    assert len(partners("few", most=1)) == 2
    with pytest.raises(
        StudyError, match="no finished conversation of Omar with a counselor or layperson"
    ):
        partners("omar", who="Omar")
    with pytest.raises(StudyError, match="400 lines or more; see"):
        make_study([runs], instrument(), tmp_path / "long", choice=Choice(fewest_lines=400))
    assert not (tmp_path / "long").exists()


def test_pairs_stand_in_random_order_and_the_key_knows_which_is_earlier(
    runs: Path, tmp_path: Path
) -> None:
    asked = load_instrument("persona_change")
    sides = set()
    for seed in range(8):
        study = made(runs, tmp_path / str(seed), asked, seed=seed)
        key = open_key(tmp_path / str(seed))
        for item in study.items:
            origin = key.items[item.id]
            sides.add(origin.earlier)
            earlier, later = item.texts if origin.earlier == 1 else item.texts[::-1]
            assert (
                " 0 runs" in earlier.characteristic
                and f" {origin.version} runs" in later.characteristic
            )
            assert "Ines" not in earlier.background and origin.person == "Ines"
    assert sides == {1, 2}


def entered(runs: Path, out: Path) -> Path:
    """A study with consent, questions about oneself, checks of attention and an example."""
    fields: dict[str, Any] = {"consent": "standard", "about_you": "standard", "checks_every": 2}
    shown = {"lines": [{"speaker": "A", "text": "Hello."}]}
    fields["training"] = {"shown": shown, "answers": {"kind": 4}, "because": {"kind": "It is."}}
    made(runs, out, instrument(**fields))
    return out


def test_consent_and_a_few_words_come_before_the_items(runs: Path, tmp_path: Path) -> None:
    folder = entered(runs, tmp_path / "study")
    study, client = open_study(folder), site(folder)
    rater = study.raters[0]
    page = client.get(f"/api/rate/{rater.token}").json()["instrument"]
    assert "people in them are simulated" in page["consent"] and len(page["about_you"]) == 3
    post = f"/api/rate/{rater.token}"
    for wrong in ({"consent": 2}, {"consent": 0, "practice": 1}, {"consent": 1, "practice": 9}, {}):
        assert client.post(post, json={"item": "you", "answers": wrong}).status_code == 422, wrong
    said = {"consent": 1, "practice": 3, "profession": None}
    assert client.post(post, json={"item": "you", "answers": said}).status_code == 200
    assert client.get(post).json()["given"]["you"]["answers"] == said
    example = {"item": "training", "answers": {"kind": 2, "real": 3}}
    assert client.post(post, json=example).status_code == 200
    assert [row for row in rows(folder) if row["item"] in ("you", "training")] == []


def test_attention_is_checked_once_in_each_stretch_and_told(runs: Path, tmp_path: Path) -> None:
    folder = entered(runs, tmp_path / "study")
    study, client = open_study(folder), site(folder)
    rater = study.raters[0]
    stretches = [rater.order[at : at + 2] for at in range(0, len(rater.order), 2)]
    assert [len(rater.checks.keys() & set(some)) for some in stretches] == [1] * len(stretches)
    assert all(1 <= wanted <= 5 for wanted in rater.checks.values())
    for number, item in enumerate(rater.order):
        answers = {"kind": 3, "real": 4}
        if item in rater.checks:
            wanted = rater.checks[item]
            assert (
                client.post(
                    f"/api/rate/{rater.token}", json={"item": item, "answers": answers}
                ).status_code
                == 422
            )
            answers["attention"] = wanted if number > 1 else wanted % 5 + 1
        assert (
            client.post(
                f"/api/rate/{rater.token}", json={"item": item, "answers": answers}
            ).status_code
            == 200
        )
    told = [*rows(folder)]
    assert {row["question"] for row in told} == {"kind", "real"}, "failed checks leave nothing out"
    assert {(row["checks_passed"], row["checks_failed"]) for row in told} == {
        (len(stretches) - 1, 1)
    }
    assert "1 checks of attention failed" in "\n".join(state_lines(folder))


def test_checks_come_again_with_the_seed() -> None:
    order = tuple(f"T{n}" for n in range(20))
    assert checks_of(order, 5, 1, "r") == checks_of(order, 5, 1, "r") != checks_of(order, 5, 1, "s")
    assert checks_of(order, 0, 1, "r") == {}


def test_a_study_for_jspsych(runs: Path, tmp_path: Path) -> None:
    """All items once, with their questions and checks; text is text, and no condition is in it."""
    folder = entered(runs, tmp_path / "study")
    page = write_for("jspsych", folder).read_text(encoding="utf-8")
    study = open_study(folder)
    held = json.loads(page.split("const study = ", 1)[1].split(";\nconst jsPsych", 1)[0])
    assert [one["data"]["item"] for one in held["items"]] == [item.id for item in study.items]
    checks = study.raters[0].checks
    for one in held["items"]:
        names = [question["name"] for question in one["questions"]]
        assert names == (
            ["kind", "attention", "real"] if one["data"]["item"] in checks else ["kind", "real"]
        )
        assert len(one["questions"][-1]["labels"]) == 12  # 11 points and "cannot say"
    assert held["entry"][0]["data"]["question"] == "consent"
    assert page.count("</script>") == 4
    own = page[page.index("const study") :]
    assert not re.search("Ines|Miriam|client_counselor|everyone", own)
    assert not re.search(r"<(script|link|img)[^>]*https?:|sourceMappingURL|@import|url\(", page)


def test_hostile_lines_stay_text_elsewhere(tmp_path: Path) -> None:
    lived(tmp_path / "runs", HOSTILE + " [[Block:x]]")
    folder = entered(tmp_path / "runs", tmp_path / "study")
    assert [*FILES] == ["jspsych", "qualtrics"]
    for platform in FILES:
        text = write_for(platform, folder).read_text(encoding="utf-8")
        assert "<img" not in text and "<script>window" not in text
    assert "[[Block:x]]" not in text


def test_a_study_for_qualtrics(runs: Path, tmp_path: Path) -> None:
    """Advanced Format: a block for each item, a description and a question for each scale."""
    folder = entered(runs, tmp_path / "study")
    study = open_study(folder)
    lines = write_for("qualtrics", folder).read_text(encoding="utf-8").splitlines()
    assert lines[0] == "[[AdvancedFormat]]"
    blocks = [line for line in lines if line.startswith("[[Block:")]
    assert blocks == ["[[Block:Entry]]", *(f"[[Block:{item.id}]]" for item in study.items)]
    ids = [line for line in lines if line.startswith("[[ID:")]
    assert len(ids) == len(set(ids))
    asked = lines.index(f"[[ID:{study.items[0].id}_kind]]")
    assert lines[asked - 1] == "[[Question:MC:SingleAnswer:Horizontal]]"
    assert lines[asked + 2 : asked + 9] == [
        "[[Choices]]",
        "1 no",
        "2",
        "3",
        "4",
        "5 yes",
        "cannot say",
    ]


def test_a_shared_past_is_judged_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        lived(tmp_path / "runs" / name)
    study = make_study(
        [tmp_path / "runs" / "one", tmp_path / "runs" / "two"],
        instrument(),
        tmp_path / "study",
        choice=Choice(fewest_lines=1),
    )
    key = open_key(tmp_path / "study")
    assert len(study.items) == len({origin.chat for origin in key.items.values()})
    assert all(len(origin.also_in) == 1 for origin in key.items.values())


def test_a_folder_that_holds_a_study_is_left_alone(folder: Path, runs: Path) -> None:
    before = (folder / "study.json").read_bytes()
    with pytest.raises(StudyError, match="holds a study already .*; choose another --out"):
        made(runs, folder)
    assert (folder / "study.json").read_bytes() == before


def test_nothing_to_make_a_study_of(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no such folder"):
        make_study([tmp_path / "nowhere"], instrument(), tmp_path / "study")
    with pytest.raises(StudyError, match="no runs in it"):
        make_study([tmp_path], instrument(), tmp_path / "study")
    with pytest.raises(StudyError, match="no client whose persona changed"):
        make_study(
            [begun(tmp_path / "runs").folder], load_instrument("persona_change"), tmp_path / "study"
        )


def test_a_damaged_study_is_told(folder: Path) -> None:
    (folder / "study.json").write_text('{"format": 2}', encoding="utf-8")
    with pytest.raises(StudyError, match=r"study\.json: damaged \(format"):
        open_study(folder)
    (folder / "study.json").write_text("{", encoding="utf-8")
    with pytest.raises(StudyError, match="cannot be read"):
        open_study(folder)


def swapped(file: Path, *fields: str) -> None:
    """The first two different items of study.json or key.json with each other's fields."""
    written = json.loads(file.read_text(encoding="utf-8"))
    items = written["items"]
    every = list(items.values()) if isinstance(items, dict) else items
    one = every[0]
    other = next(item for item in every if item[fields[0]] != one[fields[0]])
    for name in fields:
        one[name], other[name] = other[name], one[name]
    file.write_text(json.dumps(written, indent=1), encoding="utf-8")


def test_a_changed_key_or_study_is_refused_and_named(folder: Path, tmp_path: Path) -> None:
    """Two conditions, or two texts, that changed places would change every result unseen."""
    whole = {name: (folder / name).read_bytes() for name in ("key.json", "study.json")}
    for name, field in (("key.json", "condition"), ("study.json", "lines")):
        swapped(folder / name, field)
        for given in (("--csv", tmp_path / "r.csv"), ()):
            done = call("--out", folder, *given)
            assert isinstance(done.exception, StudyError), done
            assert f"{folder / name}: it was changed after it was written" in str(done.exception)
        assert not (tmp_path / "r.csv").exists()
        (folder / name).write_bytes(whole[name])
    # laid out otherwise, it says the same
    key = folder / "key.json"
    key.write_text(json.dumps(json.loads(key.read_bytes())), encoding="utf-8")
    assert call("--out", folder, "--csv", tmp_path / "r.csv").exit_code == 0


def test_answers_belong_to_the_study_that_they_were_given_in(folder: Path, runs: Path) -> None:
    assert damaged(folder, lambda lines, study: lines) == []
    made(runs, folder.parent / "other", seed=8)
    (folder / "study.json").write_bytes((folder.parent / "other" / "study.json").read_bytes())
    assert "study.json is another than it was" in damaged_answers(folder)[0]


def test_a_study_of_an_earlier_version_has_no_digests(folder: Path, tmp_path: Path) -> None:
    file = folder / "study.json"
    written = json.loads(file.read_text(encoding="utf-8"))
    del written["key"], written["digest"]
    file.write_text(json.dumps(written), encoding="utf-8")
    assert damaged(folder, lambda lines, study: lines) == []
    assert call("--out", folder, "--csv", tmp_path / "r.csv").exit_code == 0


# answers over HTTP


def test_answers_are_kept_and_come_back(folder: Path) -> None:
    study, client = open_study(folder), site(folder)
    rater = study.raters[0]
    kept = client.post(f"/api/rate/{rater.token}", json=given(study))
    assert kept.status_code == 200, kept.text
    answer = next(read_answers(folder))
    assert (answer.rater, answer.item, answer.position, answer.study) == (
        rater.name,
        rater.order[0],
        1,
        study.study,
    )
    assert (answer.answers, answer.comment, answer.seconds) == (
        {"kind": 4, "real": None},
        "so",
        3.5,
    )
    assert answer.time.endswith("Z") and answer.time == kept.json()["time"]
    page = client.get(f"/api/rate/{rater.token}").json()
    assert [item["id"] for item in page["items"]] == list(rater.order)
    assert page["given"] == {
        rater.order[0]: {"answers": {"kind": 4, "real": None}, "comment": "so"}
    }
    assert client.get(f"/api/rate/{study.raters[1].token}").json()["given"] == {}


def test_the_last_answer_counts(folder: Path) -> None:
    study, client = open_study(folder), site(folder)
    for value in (1, 5, 2):
        client.post(
            f"/api/rate/{study.raters[0].token}",
            json=given(study, answers={"kind": value, "real": 3}),
        )
    assert len(list(read_answers(folder))) == 3
    (last,) = last_answers(read_answers(folder)).values()
    assert last.answers["kind"] == 2


@each(
    ("changes", "told"),
    [
        ({"item": "T99"}, "no item 'T99'"),
        ({"answers": {"kind": 6, "real": 1}}, "kind: 6 is not on the scale from 1 to 5"),
        ({"answers": {"kind": 0, "real": 1}}, "kind: 0 is not on the scale"),
        ({"answers": {"kind": "4", "real": 1}}, "integer"),
        ({"answers": {"kind": 4.5, "real": 1}}, "integer"),
        ({"answers": {"kind": True, "real": 1}}, "integer"),
        ({"answers": {"kind": 4}}, "no answer to real"),
        ({"answers": {"kind": 4, "real": 1, "more": 1}}, "no question 'more'"),
        ({"answers": [4, 1]}, "object"),
        ({"comment": "x" * 2001}, "at most 2000"),
        ({"comment": None}, "string"),
        ({"seconds": -1}, "greater than or equal to 0"),
        ({"seconds": 1e9}, "less than or equal"),
        ({"rater": "rater-02"}, "not permitted"),
    ],
)
def test_answers_that_do_not_fit_are_refused(
    folder: Path, changes: dict[str, Any], told: str
) -> None:
    study = open_study(folder)
    refused = site(folder).post(f"/api/rate/{study.raters[0].token}", json=given(study, **changes))
    assert refused.status_code == 422 and told in refused.json()["problem"]
    assert not (folder / "answers.jsonl").exists()


@each(
    "body",
    [
        b"",
        b"{",
        b"[" * 60_000,
        b"\xff",
        b'{"item": "\\ud800", "answers": {}}',
        b'{"item": "T1", "answers": {}, "seconds": NaN}',
    ],
)
def test_what_is_not_an_answer_is_refused(folder: Path, body: bytes) -> None:
    study = open_study(folder)
    assert site(folder).post(f"/api/rate/{study.raters[0].token}", content=body).status_code == 422


def test_answers_may_be_demanded(runs: Path, tmp_path: Path) -> None:
    study = made(runs, tmp_path, instrument(may_skip=False))
    refused = site(tmp_path).post(f"/api/rate/{study.raters[0].token}", json=given(study))
    assert refused.status_code == 422 and "real: an answer is needed" in refused.json()["problem"]


def test_strangers_are_refused(folder: Path) -> None:
    study = open_study(folder)
    token = study.raters[0].token
    assert site(folder, host="evil.example").get(f"/rate/{token}").status_code == 403
    client = site(folder)
    for wrong in ("x", token[:-1], token + "x", "%00", "\u00e9"):
        assert (
            client.get(f"/rate/{wrong}").status_code
            == client.get(f"/api/rate/{wrong}").status_code
            == 404
        )
        assert client.post(f"/api/rate/{wrong}", json=given(study)).status_code == 404
    assert (
        client.post(
            f"/api/rate/{token}", json=given(study), headers={"origin": "http://evil.example"}
        ).status_code
        == 403
    )
    assert client.post(f"/api/rate/{token}", content=b" " * (BODY_BYTES + 1)).status_code == 413
    assert client.delete(f"/api/rate/{token}").status_code == 405
    assert not (folder / "answers.jsonl").exists()


def test_where_others_can_reach_it_only_a_link_opens_anything(folder: Path) -> None:
    client, study = site(folder, host="lab.example", public=True), open_study(folder)
    token = study.raters[0].token
    assert (
        client.get(f"/rate/{token}").status_code
        == client.get(f"/api/rate/{token}").status_code
        == client.get("/static/rate.js").status_code
        == 200
    )
    assert client.post(f"/api/rate/{token}", json=given(study)).status_code == 200
    assert client.get("/rate/x").status_code == 404
    assert (
        client.get("/").status_code
        == client.get("/other").status_code
        == client.get("/api/runs").status_code
        == 401
    )


def test_the_page_lets_no_other_code_in(folder: Path) -> None:
    page = site(folder).get(f"/rate/{open_study(folder).raters[0].token}")
    assert (
        "script-src 'self'" in page.headers["content-security-policy"]
        and page.headers["referrer-policy"] == "no-referrer"
    )
    assert "<script>" not in page.text and "style=" not in page.text and "onclick" not in page.text


def test_a_full_disk_is_told_to_the_rater(folder: Path) -> None:
    study = open_study(folder)
    (folder / "answers.jsonl").mkdir()
    refused = site(folder).post(f"/api/rate/{study.raters[0].token}", json=given(study))
    assert refused.status_code == 507 and "could not be written" in refused.json()["problem"]


def test_a_line_cut_short_costs_only_itself(folder: Path) -> None:
    study, client = open_study(folder), site(folder)
    client.post(f"/api/rate/{study.raters[0].token}", json=given(study))
    with (folder / "answers.jsonl").open("ab") as out:
        out.write(b'{"item": "T')
    client.post(
        f"/api/rate/{study.raters[0].token}", json=given(study, item=study.raters[0].order[1])
    )
    assert [answer.position for answer in read_answers(folder)] == [1, 2]


# offline pages, and what comes back


def test_an_offline_page_holds_everything_and_hides_nothing(runs: Path, tmp_path: Path) -> None:
    hostile = lived(tmp_path / "runs", HOSTILE)
    study = made(hostile.folder, tmp_path / "study")
    page = offline_page(study, study.raters[0])
    assert page.count("<script") == page.count("</script") == page.count("<style") == 1
    assert (
        "http://" not in page.replace("http://www.w3.org/2000/svg", "")
        and "https://" not in page
        and "src=" not in page.split("<script>")[0]
    )
    assert "default-src 'none'; script-src 'sha256-" in page and "\x00" not in page
    assert study.raters[0].token not in page and study.raters[1].token not in page


def line(study: Study, /, **changes: Any) -> dict[str, Any]:
    rater = study.raters[1]
    fields = given(study, item=rater.order[1]) | {
        "study": study.study,
        "rater": rater.name,
        "position": 2,
        "time": "2026-03-02T10:00:00.000Z",
    }
    return fields | changes


def test_returned_files_are_merged_once(folder: Path, tmp_path: Path) -> None:
    study, file = open_study(folder), tmp_path / "back.jsonl"
    file.write_text(
        json.dumps(line(study))
        + "\r\n\n"
        + json.dumps(line(study, time="2026-03-02T12:00:00+01:00", comment="later"))
        + "\n",
        encoding="utf-8",
    )
    taken = import_answers(folder, [file])
    assert (taken.new, taken.known) == (2, 0)
    assert [answer.time for answer in read_answers(folder)] == [
        "2026-03-02T10:00:00.000Z",
        "2026-03-02T11:00:00.000Z",
    ]
    again = import_answers(folder, [file, file])
    assert (again.new, again.known) == (0, 4)
    assert [answer.comment for answer in last_answers(read_answers(folder)).values()] == ["later"]


@each(
    ("changes", "told"),
    [
        ({"study": "other"}, "of another study"),
        ({"rater": "rater-09"}, "no rater 'rater-09'"),
        ({"position": 1}, "is not number 1 of"),
        ({"answers": {"kind": 9, "real": 1}}, "kind: 9 is not on the scale"),
        ({"time": "today"}, "time: "),
        ({"time": "2026-03-02T10:00:00"}, "without its zone"),
        ({"run": "x"}, "run: "),
    ],
)
def test_a_returned_file_with_a_wrong_line_is_refused_as_a_whole(
    folder: Path, tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    study, file = open_study(folder), tmp_path / "back.jsonl"
    file.write_text(
        json.dumps(line(study)) + "\n" + json.dumps(line(study, **changes)) + "\n", encoding="utf-8"
    )
    with pytest.raises(StudyError, match="nothing was imported") as caught:
        import_answers(folder, [file])
    assert str(caught.value).startswith(f"{file}:2: ") and told in str(caught.value)
    assert not (folder / "answers.jsonl").exists()


# the CSV


def by_hand(folder: Path) -> Study:
    """Two pairs and one rater: in P1 the earlier text is the first, in P2 the second."""
    asked = instrument(
        about="personas",
        items=[
            {
                "id": "ease",
                "text": "A is at ease.",
                "low": "Text 1",
                "high": "Text 2",
                "compares": True,
            },
            {"id": "amount", "text": "How much?", "points": 7, "low": "none", "high": "all"},
        ],
    )
    study = Study(
        study="s",
        instrument=asked,
        items=tuple(Shown(id=id, lines=(Line(speaker="A", text="x"),)) for id in ("P1", "P2")),
        raters=(Rater(name="rater-01", token="t" * 24, order=("P2", "P1")),),
    )
    origin = {
        "folder": "f",
        "condition": "everyone",
        "world": "W",
        "world_seed": 1,
        "model": "m",
        "person": "Ines",
        "version": 3,
    }
    write_study(
        folder,
        study,
        Key(
            study="s",
            made="now",
            seed=0,
            items={
                "P1": Origin(run="one", earlier=1, **origin),
                "P2": Origin(run="two", earlier=2, also_in=("three",), **origin),  # type: ignore[arg-type]
            },
        ),
    )
    return study


def test_the_csv_is_what_one_works_out_by_hand(tmp_path: Path) -> None:
    by_hand(tmp_path)
    common: dict[str, Any] = {"study": "s", "rater": "rater-01", "seconds": 2}
    append(
        tmp_path,
        [
            Answer(
                item="P2",
                position=1,
                time="2026-03-02T10:00:00Z",
                answers={"ease": 5, "amount": 1},
                **common,
            ),
            Answer(
                item="P1",
                position=2,
                time="2026-03-02T10:05:00Z",
                answers={"ease": 4, "amount": 7},
                comment="=1+1",
                **common,
            ),
            Answer(
                item="P2",
                position=1,
                time="2026-03-02T10:09:00Z",
                answers={"ease": 2, "amount": None},
                comment='a, "b"\nc',
                **common,
            ),
        ],
    )
    assert write_csv(tmp_path, tmp_path / "out.csv") == 4
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    shown = [
        [
            row[name]
            for name in (
                "rater",
                "item",
                "position",
                "run",
                "condition",
                "question",
                "value",
                "points",
                "toward_later",
                "comment",
                "also_in",
            )
        ]
        for row in table
    ]
    assert shown == [
        ["rater-01", "P1", "2", "one", "everyone", "ease", "4", "5", "4", "'=1+1", ""],
        ["rater-01", "P1", "2", "one", "everyone", "amount", "7", "7", "", "'=1+1", ""],
        ["rater-01", "P2", "1", "two", "everyone", "ease", "2", "5", "4", 'a, "b"\nc', "three"],
        ["rater-01", "P2", "1", "two", "everyone", "amount", "", "7", "", 'a, "b"\nc', "three"],
    ]
    assert table[2]["time"] == "2026-03-02T10:09:00.000Z"


def test_a_comment_is_text_and_nothing_else(folder: Path) -> None:
    study = open_study(folder)
    site(folder).post(
        f"/api/rate/{study.raters[0].token}",
        json=given(study, comment="a\x00b\x1b[31mc\n\td\u202e"),
    )
    assert next(row["comment"] for row in rows(folder)) == "ab[31mc\n\td\u202e"


def test_no_answers_yet_make_an_empty_table(folder: Path) -> None:
    assert write_csv(folder, folder / "none.csv") == 0
    assert (
        (folder / "none.csv")
        .read_text(encoding="utf-8")
        .startswith("rater,item,position,run,condition,")
    )


# the command line


def call(*words: object) -> Any:
    return CliRunner().invoke(command_line, ["study", "rate-page", *map(str, words)])


def damaged(folder: Path, change: Any) -> list[str]:
    """A study of three answers of which the file was changed."""
    study = open_study(folder)
    rater = study.raters[0]
    answers = {item.id: 2 for item in study.instrument.items}
    append(
        folder,
        [
            Answer(study=study.study, rater=rater.name, item=id, position=at, time=f"2026-03-02T10:0{at}:00Z", answers=answers)
            for at, id in enumerate(rater.order[:3], 1)
        ],
    )  # fmt: skip
    file = folder / "answers.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(change(lines, study)))
    return damaged_answers(folder)


def signed(study: Study, answer: dict[str, Any]) -> bytes:
    """A first line with a digest that fits: only what it says is wrong."""
    return CallChain(study.digest or "").line(answer)


@pytest.mark.parametrize(
    ("change", "kept", "says"),
    [
        (lambda lines, study: lines, 3, []),
        (lambda lines, study: [lines[0], lines[1][:40] + b"\n", lines[2]], 2, ["2: it cannot be read"]),
        (lambda lines, study: [lines[0], lines[1].replace(b":2,", b":3,", 1), lines[2]], 2, [f"2: {EDITED}"]),
        (lambda lines, study: [lines[0], lines[2]], 2, [f"2: {MISPLACED}"]),
        (lambda lines, study: [lines[0], lines[0], *lines[1:]], 3, [f"2: {MISPLACED}"]),
    ],
)  # fmt: skip
def test_a_changed_line_of_answers_is_named(
    folder: Path, change: Any, kept: int, says: list[str]
) -> None:
    found = damaged(folder, change)
    assert len(found) >= len(says)
    assert all(f"answers.jsonl:{one}" in "\n".join(found) for one in says)
    assert len(last_answers(read_answers(folder))) == kept


def test_an_unknown_rater_and_a_value_off_the_scale_are_named(folder: Path) -> None:
    study = open_study(folder)
    item = study.instrument.items[0]
    told = {"study": study.study, "item": study.raters[0].order[0], "position": 1, "time": "2026-03-02T10:00:00Z"}  # fmt: skip
    off = told | {"rater": study.raters[0].name, "answers": {item.id: 99}}
    nobody = told | {"rater": "nobody", "answers": {item.id: 1}}
    for line, why in ((off, "99 is not on the scale"), (nobody, "no rater 'nobody' in this study")):
        (folder / "answers.jsonl").write_bytes(signed(study, line))
        (found,) = damaged_answers(folder)
        assert why in found and list(read_answers(folder)) == []
        done = call("--out", folder, "--csv", folder / "r.csv")
        assert "wrote 0 rows" in done.output and why in done.output and "are missing" in done.output


def test_the_command_from_runs_to_csv(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "study"
    done = call(
        runs, "--instrument", "transcript_quality", "--out", out, "--raters", 3, "--min-lines", 1
    )
    assert done.exit_code == 0, done.output
    study = open_study(out)
    pages = [out / "offline" / f"{rater.name}.html" for rater in study.raters]
    assert len(pages) == 3 and all(str(page) in done.output for page in pages)
    assert "http://" not in done.output, "nothing serves a link yet"
    assert {file.name for file in (out / "offline").iterdir()} == {
        f"rater-0{n}.html" for n in (1, 2, 3)
    }
    file = tmp_path / "back.jsonl"
    answers = {item.id: 3 for item in study.instrument.items}
    file.write_text(json.dumps(line(study, answers=answers)) + "\n", encoding="utf-8")
    done = call("--out", out, "--import", file, "--csv", tmp_path / "r.csv")
    assert (
        done.exit_code == 0
        and "imported 1 ratings and 0 other answers" in done.output
        and "wrote 7 rows" in done.output
    )
    assert "  1 of " in call("--out", out).output


@each(
    ("words", "told"),
    [
        (("--instrument", "transcript_quality"), "name the runs"),
        (("RUNS",), "--instrument is needed"),
        (("RUNS", "--instrument", "nothing"), "known here"),
        (("RUNS", "--instrument", "persona_change", "--with", "cat"), "nobody has that role"),
        (("--csv", "x.csv"), "makes a study"),
    ],
)
def test_the_command_says_what_is_missing(
    runs: Path, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    done = call(*(runs if word == "RUNS" else word for word in words), "--out", tmp_path / "none")
    assert done.exit_code != 0 and told in done.output + str(done.exception)


def heeds_ctrl_c() -> None:
    """A shell's background jobs, and what they start, ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_the_command_serves_the_links_until_it_is_stopped(folder: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "simcounsel",
        "study",
        "rate-page",
        "--out",
        str(folder),
        "--serve",
        "--port",
        "0",
    ]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heeds_ctrl_c
    ) as server:
        assert server.stdout is not None
        links = [server.stdout.readline().split() for _ in open_study(folder).raters]
        try:
            assert [name for name, _ in links] == ["rater-01", "rater-02"]
            assert httpx.get(links[1][1]).status_code == 200
        finally:
            server.send_signal(signal.SIGINT)
        assert server.wait(timeout=20) == 130


def test_a_run_is_not_changed_by_being_rated(tmp_path: Path) -> None:
    run: Run = lived(tmp_path / "runs")
    before = {file.name: file.read_bytes() for file in run.folder.iterdir() if file.is_file()}
    made(run.folder, tmp_path / "study")
    assert {
        file.name: file.read_bytes() for file in run.folder.iterdir() if file.is_file()
    } == before


def test_a_key_reaches_no_file_of_a_study(folder: Path) -> None:
    key = "sk-" + "a1b2c3d4" * 4
    study = open_study(folder)
    answer = {"study": study.study, "rater": study.raters[0].name, "position": 1}
    line = given(study, comment=key) | answer | {"time": "2026-03-02T10:15:00.000Z"}
    append(folder, [Answer.model_validate(line)])
    write_whole(folder / "page.html", f"<p>{key}</p>")
    assert [one.comment for one in read_answers(folder)] == ["***"]
    assert not [file for file in folder.rglob("*") if file.is_file() and key in file.read_text()]
