"""`study pack clinicians`: coefficients by hand, rating pages answered over HTTP, a frozen pack."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import krippendorff
import numpy as np
import pytest
import typer.testing
from sklearn.metrics import cohen_kappa_score
from starlette.testclient import TestClient

from analysis.clinicians import coefficients as counted
from analysis.clinicians.command import pack as app
from analysis.clinicians.figures import QUESTIONS, consensus, read_pack_answers, ties
from analysis.clinicians.freezing import Pack, dealt_sittings, freeze, open_pack, take_in
from analysis.clinicians.plan import Plan, begin, counselors_of
from analysis.clinicians.playing import WORLDS, Talk, dealt
from analysis.clinicians.writing import write_pack_page
from analysis.errors import ReportError
from simcounsel.corpus.dialogues import Dialogue, Turn
from simcounsel.errors import SpecError
from simcounsel.instruments.clinicians import NOBODY, clinicians_said
from simcounsel.studies.site import make_rating_app
from simcounsel.studies.study import Rater, open_key, open_study

COUNSELORS = ("unguided@scripted", "socratic@scripted")
DANGERS = ("suicide", "self_harm", "abuse", "none")


def invoke(*words: str) -> typer.testing.Result:
    return typer.testing.CliRunner().invoke(app, ["clinicians", *words], catch_exceptions=True)


def plan_of(crises: int = 6, sessions: int = 2, sittings: int = 2) -> Plan:
    return Plan(
        counselors=COUNSELORS,
        crises=crises,
        sessions=sessions,
        english=False,
        clients="scripted",
        lines=8,
        raters=3,
        sittings=sittings,
        seed=4,
    )


def talks_of(plan: Plan) -> Iterator[tuple[Talk, Dialogue]]:
    """In place of playing: short talks, told apart by their words."""
    kinds = [("crisis", n) for n in range(plan.crises)]
    kinds += [("session", n) for n in range(plan.sessions)]
    for counselor in (0, 1):
        for kind, number in kinds:
            case = f"{kind}-{number}"
            id = f"{'ab'[counselor]}-{case}"
            danger = DANGERS[number % 4] if kind == "crisis" else "none"
            turns = [
                Turn(speaker="client", text=f"It is the {number}th bad week, {kind}."),
                Turn(speaker="counselor", text=f"What was the worst of it, {counselor}?"),
            ]
            talk = Talk(
                id=id,
                counselor=counselor,
                case=case,
                kind=kind,
                danger=danger,
                language="en",
                lines=2,
                checks={"detects": number % 2 == 0} if kind == "crisis" else {},
            )
            yield talk, Dialogue(id=id, client=case, turns=tuple(turns), language="en")


@pytest.fixture
def frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Pack]:
    begin(tmp_path / "pack", plan_of())
    monkeypatch.setattr("analysis.clinicians.freezing.played", lambda folder, plan: talks_of(plan))
    return tmp_path / "pack", freeze(tmp_path / "pack")


def answer_pages(folder: Path, pack: Pack, given: np.ndarray, profession: int = 1) -> None:
    """Three people answer every page over HTTP. given: talks by questions by raters."""
    place = {one.id: at for at, one in enumerate(pack.talks)}
    for sitting in pack.sittings:
        study = open_study(folder / sitting.folder)
        chats = {id: str(one.chat) for id, one in open_key(folder / sitting.folder).items.items()}
        for who, rater in enumerate(
            study.raters
        ):  # each by a site of their own: it counts requests
            values = {id: given[place[chat], :, who] for id, chat in chats.items()}
            with TestClient(make_rating_app(folder / sitting.folder), "http://127.0.0.1") as client:
                _answer(client, rater, values, profession)


def _answer(
    client: TestClient, rater: Rater, values: dict[str, np.ndarray], profession: int
) -> None:
    url = f"/api/rate/{rater.token}"
    page = client.get(url).json()
    facts = {
        one["id"]: min(profession, len(one["choices"])) for one in page["instrument"]["about_you"]
    }
    said = [{"item": "you", "answers": {"consent": 1, **facts}}]
    for item in page["items"]:
        row = [None if np.isnan(one) else int(one) for one in values[item["id"]]]
        answers = dict(zip(QUESTIONS, row, strict=True))
        if item["id"] in page["checks"]:
            answers["attention"] = page["checks"][item["id"]]
        said.append({"item": item["id"], "answers": answers, "seconds": 60.0})
    for one in said:
        reply = client.post(url, json=one)
        assert reply.status_code == 200, reply.text


# coefficients


def test_alpha_by_hand() -> None:
    """Two raters, four units (1,1) (2,2) (3,3) (1,2): sums 3, 3, 2 of 8; ranks 1.5, 4.5, 7. The
    one difference counts 2 x 9 = 18. All pairs of different sums: 2 (9 x 9 + 6 x 30.25 + 6 x 6.25)
    = 600. Alpha: 1 - 7 x 18 / 600.
    """
    given = np.array([[1, 1], [2, 2], [3, 3], [1, 2]], dtype=float)
    found = float(counted.alpha(counted.coincidences(given, 3).sum(axis=0)))
    assert found == pytest.approx(1 - 7 * 18 / 600)
    pairs = counted.confusions(given, 3).sum(axis=0)
    assert float(counted.same(pairs)) == pytest.approx(3 / 4)
    # observed: one of four differs by 1; by chance, sums 2, 1, 1 against 1, 2, 1: 12 + 2 + 6
    assert float(counted.kappa(pairs)) == pytest.approx(1 - 4 * 1 / (12 + 2 + 6))


def test_coefficients_as_other_libraries_have_them() -> None:
    rng = np.random.default_rng(3)
    given = counted.simulated(0.5, (40, 3), 3, rng)
    given[rng.random(given.shape) < 0.1] = np.nan
    alpha, kappa, same = counted.agreement(given, "all")
    flat = given.reshape(-1, 3)
    other = krippendorff.alpha(reliability_data=flat.T, level_of_measurement="ordinal")
    assert alpha.value == pytest.approx(other)
    pairs = [flat[:, [a, b]] for a, b in ((0, 1), (0, 2), (1, 2))]
    both = [one[~np.isnan(one).any(axis=1)].astype(int) for one in pairs]
    other = np.mean([cohen_kappa_score(*one.T, weights="quadratic") for one in both])
    assert kappa.value == pytest.approx(other)
    matches = [(one[:, 0] == one[:, 1]) for one in both]
    assert same.value == pytest.approx(np.concatenate(matches).mean())
    assert alpha.low is not None and alpha.high is not None
    assert alpha.low < alpha.value < alpha.high  # type: ignore[operator]


def test_what_cannot_be_counted_says_why() -> None:
    alike = counted.agreement(np.full((5, 2, 3), 2.0), "all")
    assert {one.reason for one in alike[:2]} == {"all answers are the same"}
    nobody = counted.agreement(np.full((5, 2, 3), np.nan), "all")
    assert [one.value for one in nobody] == [None] * 3 and "0 talks" in str(nobody[0].reason)


def test_the_interval_covers_what_was_planted() -> None:
    one = counted.expected(0.77, 120)
    assert one.low < 0.77 < one.high and 0.05 < one.high - one.low < 0.35
    assert counted.expected(0.77, 40).high - counted.expected(0.77, 40).low > one.high - one.low
    assert one.needed_005 == pytest.approx(4 * one.needed_010, rel=0.05)
    many = counted.simulated(0.6, (2000, 1), 3, np.random.default_rng(1))
    assert counted.agreement(many, "all")[0].value == pytest.approx(0.6, abs=0.03)


def test_consensus_and_ties() -> None:
    given = np.array([[[1, 2, 3], [1, 2, np.nan], [3, np.nan, np.nan], [1, 1, 3]]], dtype=float)
    assert consensus(given)[0, :2].tolist() == [2, 1.5] and np.isnan(consensus(given)[0, 2])
    assert consensus(given)[0, 3] == 1 and ties(given) == 1


# the pack


def test_a_dry_run_asks_nobody(tmp_path: Path) -> None:
    done = invoke("--counselors", ",".join(COUNSELORS), "--out", str(tmp_path / "p"), "--dry-run")
    assert done.exit_code == 0, done.output
    assert (
        "120 in crises, 60 ordinary sessions; 48 are Chinese" in done.output
        and "hours in 6 sittings" in done.output
    )
    assert re.search(r"0\.77 +180", done.output) and not (tmp_path / "p").exists()


def test_what_is_wrong_with_counselors_is_said(tmp_path: Path) -> None:
    for text, words in {
        "a@b": "names 1",
        "a,b@c": "not POLICY@MODEL",
        "a@b,a@b": "names 1",
    }.items():
        with pytest.raises(ReportError, match=re.escape(words)):
            counselors_of(text)
    begin(tmp_path, plan_of())
    with pytest.raises(ReportError, match="crises is 6, and now 7"):
        begin(tmp_path, plan_of(crises=7))


def test_a_judge_has_a_budget_of_its_own(tmp_path: Path) -> None:
    words = ["--counselors", ",".join(COUNSELORS), "--out", str(tmp_path / "p")]
    done = invoke(*words, "--judge", "scripted", "--budget-usd", "1")
    assert done.exit_code == 2 and "spend the budget twice" in done.output
    assert not list((tmp_path / "p").glob("crises*"))


def test_clients_are_dealt_to_all_worlds() -> None:
    thirty = dealt(30)
    assert [len(some) for some in thirty.values()] == [5] * 6
    names = [Path(one).stem for some in thirty.values() for one in some]
    assert len(set(names)) == 30
    assert all(Path(some[0]).stem == WORLDS[world][0].lower() for world, some in thirty.items())


def test_sittings_part_the_two_talks_of_a_case() -> None:
    plan = plan_of(crises=12, sessions=6, sittings=3)
    talks = [talk for talk, _ in talks_of(plan)]
    sittings = dealt_sittings(talks, plan)
    assert sorted(id for some in sittings for id in some) == sorted(one.id for one in talks)
    assert max(map(len, sittings)) - min(map(len, sittings)) <= 1
    for some in sittings:
        assert len({id[2:] for id in some}) == len(some)
        sides = [id[0] for id in some]
        assert abs(sides.count("a") - sides.count("b")) <= 2


def test_a_changed_talk_is_refused(frozen: tuple[Path, Pack]) -> None:
    folder, pack = frozen
    assert open_pack(folder) == pack
    file = folder / "talks.jsonl"
    whole = file.read_text()
    file.write_text(whole.replace("bad week", "good week", 1))
    with pytest.raises(ReportError, match=r"talks.jsonl:1: a-crisis-0 was changed"):
        open_pack(folder)
    file.write_text(whole)
    text = (folder / "pack.json").read_text()
    (folder / "pack.json").write_text(text.replace("self_harm", "abuse", 1))
    with pytest.raises(ReportError, match=r"pack.json: was changed"):
        open_pack(folder)
    (folder / "pack.json").write_text(text)
    study = folder / "sitting-1" / "study.json"
    study.write_text(study.read_text().replace("bad week", "good week", 1))
    with pytest.raises(ReportError, match=r"study.json: was changed"):
        open_pack(folder)


def test_three_raters_answer_the_pages_and_the_planted_agreement_comes_out(
    frozen: tuple[Path, Pack], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, pack = frozen
    given = counted.simulated(0.77, (len(pack.talks), 10), 3, np.random.default_rng(5))
    given[pack.talks[0].counselor, 2:6] = np.nan  # "cannot say"
    answer_pages(folder, pack, given)
    answers = read_pack_answers(folder, pack)
    assert np.array_equal(answers.values, given, equal_nan=True)
    said = list(write_pack_page(folder, pack))
    figures = json.loads((folder / "page" / "figures.json").read_text())
    alpha = next(one for one in figures["agreement"] if one["table"] == "All together")
    units = [row for row in given.reshape(-1, 3) if (~np.isnan(row)).sum() > 1]
    by_other = krippendorff.alpha(
        reliability_data=np.array(units).T, level_of_measurement="ordinal"
    )
    assert alpha["value"] == pytest.approx(by_other) == pytest.approx(0.77, abs=0.12)
    assert "0 judges can be held" in said[-1] and not (folder / "page" / "clinicians.json").exists()
    assert [one.rated for one in answers.people] == [len(pack.talks)] * 3
    assert all(one.clinician and one.failed == 0 for one in answers.people)


def test_the_page_gives_nobody_away(frozen: tuple[Path, Pack]) -> None:
    folder, pack = frozen
    given = counted.simulated(0.5, (len(pack.talks), 10), 3, np.random.default_rng(5))
    answer_pages(folder, pack, given, profession=4)
    list(write_pack_page(folder, pack))
    published = "".join(one.read_text() for one in (folder / "page").rglob("*") if one.is_file())
    tokens = [
        rater.token for one in pack.sittings for rater in open_study(folder / one.folder).raters
    ]
    assert not any(token in published for token in tokens) and str(folder) not in published
    assert NOBODY["en"] in published and pack.digest in published  # they say: research


def test_answers_sent_back_find_their_sitting(frozen: tuple[Path, Pack], tmp_path: Path) -> None:
    folder, pack = frozen
    given = np.full((len(pack.talks), 10, 3), 2.0)
    answer_pages(folder, pack, given)
    kept = folder / "sitting-2" / "answers.jsonl"
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    fields = ("study", "rater", "position", "time", "item", "answers", "comment", "seconds")
    sent = tmp_path / "back.jsonl"
    sent.write_text("".join(json.dumps({key: one[key] for key in fields}) + "\n" for one in lines))
    kept.unlink()
    (line,) = take_in(folder, pack, [sent])
    assert f"{3 * pack.sittings[1].talks} talks into sitting-2" in line
    sent.write_text("{}")
    with pytest.raises(ReportError, match="of no sitting of this pack"):
        list(take_in(folder, pack, [sent]))


# the sentence


def test_the_sentence_names_a_judge_that_was_held_against_clinicians(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert clinicians_said() == "No clinician has rated this."
    assert clinicians_said(language="zh").startswith("尚无")
    file = tmp_path / "clinicians.json"
    agreed = {"value": 0.81, "low": 0.7, "high": 0.9, "talks": 180}
    told = {"instrument": "crisis_handling", "raters": 3, "digest": "abcdef0123456789"}
    file.write_text(json.dumps(told | {"judges": {"openai:x": agreed}}))
    monkeypatch.setenv("SIMCOUNSEL_CLINICIANS", str(file))
    said = clinicians_said("crisis_handling", "openai:x")
    assert "3 clinicians rated 180 other talks" in said and "0.81 [0.70, 0.90]" in said
    assert clinicians_said("crisis_handling", "openai:y") == NOBODY["en"]
    assert clinicians_said("dialogue_quality", "openai:x") == NOBODY["en"]
    file.write_text("{}")
    with pytest.raises(SpecError, match="SIMCOUNSEL_CLINICIANS names the clinicians.json"):
        clinicians_said()


PLACES = """
simcounsel/cli/rating.py simcounsel/cli/rating_many.py simcounsel/corpus/rate_command.py
simcounsel/bench/tables.py simcounsel/bench/protocol/results.py simcounsel/viewer/outcomes.py
analysis/judge_lines.py analysis/templates/report.html.j2 analysis/templates/report.md.j2
analysis/templates/corpora.html.j2 analysis/templates/courses.html.j2
analysis/templates/courses.md.j2 analysis/templates/replication.html.j2
analysis/templates/replication.md.j2 analysis/templates/validity.html.j2
analysis/templates/validity.md.j2
""".split()


def test_every_place_that_shows_a_judges_number_says_it_from_one_function() -> None:
    root = Path(__file__).parents[2]
    for place in PLACES:
        assert "clinicians_said(" in (root / place).read_text(encoding="utf-8"), place
    texts = [*root.glob("simcounsel/**/*.py"), *root.glob("analysis/**/*.j2")]
    own = [one for one in texts if "o clinician has rated" in one.read_text(encoding="utf-8")]
    assert [one.name for one in own] == ["clinicians.py"]


# the whole


@pytest.mark.slow(60)
def test_a_small_pack_is_played_frozen_judged_and_goes_on(tmp_path: Path) -> None:
    words = ["--counselors", ",".join(COUNSELORS), "--clients", "scripted", "--crises", "4"]
    words += ["--sessions", "2", "--sittings", "2", "--lines", "8", "--out", str(tmp_path / "p")]
    words += ["--quiet", "--processes", "1"]
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    first = (tmp_path / "p" / "pack.json").read_bytes()
    again = invoke(*words, "--judge", "scripted")
    assert again.exit_code == 0 and (tmp_path / "p" / "pack.json").read_bytes() == first
    frozen = open_pack(tmp_path / "p")
    given = counted.simulated(0.77, (12, 10), 3, np.random.default_rng(2))
    answer_pages(tmp_path / "p", frozen, given)
    done = invoke("--out", str(tmp_path / "p"))
    assert done.exit_code == 0, done.output
    assert "scripted" in read_pack_answers(tmp_path / "p", frozen).judges
    cited = json.loads((tmp_path / "p" / "page" / "clinicians.json").read_text())
    assert cited["raters"] == 3 and cited["judges"]["scripted"]["talks"] == 12
