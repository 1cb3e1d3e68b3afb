"""An audit: what a change does to a study, what becomes of a claim, and what PIMMUR asks."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from analysis.finding import find
from analysis.statistics import Contrast
from analysis.validity.audit import changes as of_changes
from analysis.validity.audit.analyses import analyses
from analysis.validity.audit.changes import (
    AuditChange,
    PersonaChange,
    changed,
    read_changes,
    together,
)
from analysis.validity.audit.compliance import compliance, complied
from analysis.validity.audit.pimmur import Guess, blind, minimal_control, named_outcome
from analysis.validity.audit.plan import USUAL, Variant, plan, plan_words, with_pairs
from analysis.validity.audit.verdicts import audited, becomes, largest
from simcounsel.errors import SpecError
from simcounsel.specs.experiment import Hypothesis
from simcounsel.specs.world import World
from tests.benchmarks.audit import TRUTHS, verdicts
from tests.commands import Command
from tests.each import each
from tests.stage import ROOT, live, three, tiny

PLANTED = ROOT / "experiments" / "planted_effect.yaml"
OURS = {one.slug: one for one in read_changes(None)}


def made(slug: str, world: World | None = None, at: int = 0) -> World:
    return changed(world or three(), OURS[slug], at, ROOT)


def ines(world: World) -> dict:
    return next(one for one in world.residents if one.name == "Ines").persona.model_dump()


def test_lists_are_turned_round_and_hold_the_same() -> None:
    before, after = ines(three()), ines(made("lists-reversed"))
    assert after["habits"] == before["habits"][::-1]
    assert after["core_beliefs"] == before["core_beliefs"][::-1]
    assert after["history"] == before["history"]


def test_fields_of_a_client_are_emptied_and_of_nobody_else() -> None:
    world = made("nobody-named")
    assert ines(world)["people"] == () and ines(three())["people"]
    others = [one for one in world.residents if one.role != "client"]
    assert others == [one for one in three().residents if one.role != "client"]


def test_talk_calendar_ties_and_ticks() -> None:
    world = three()
    assert [one.max_turns for one in made("half-the-lines").appointments] == [4, 4]
    assert [one.at for one in made("an-hour-later").appointments] == ["11:00", "10:00"]
    slow = made("longer-ticks")
    assert (slow.tick_minutes, slow.ticks) == (60, 6)
    assert slow.tick_minutes * slow.ticks == world.tick_minutes * world.ticks
    insomnia = plan(ROOT / "experiments" / "counseling_effect.yaml", [OURS["less-close"]])
    scores = [[tie.score for tie in one.cells[0].world.relationships] for one in insomnia.variants]
    assert scores[0] and scores[1] == [score / 2 for score in scores[0]]


def test_what_is_cut_is_cut_from_the_fork_on_and_who_is_not_there_is_passed_over() -> None:
    minds = {one.name: one.mind for one in made("nobody-talks", at=3).residents}
    assert minds == {"Ines": None, "Miriam": "cut:mute:@3", "Omar": "cut:mute:@3"}
    assert {one.name: one.mind for one in made("nobody-talks", tiny()).residents} == {
        "Ines": None, "Miriam": "cut:mute:@0",
    }  # fmt: skip


def test_another_model_leaves_who_measures() -> None:
    world = changed(
        tiny(), AuditChange(name="m", level="model", model="scripted:planted=4"), 0, ROOT
    )
    assert world.models.resolved()["reason"] == "scripted:planted=4"
    assert world.models.resolved()["judge"] == tiny().models.resolved()["judge"]


def test_a_file_of_the_same_meaning_takes_a_clients_place() -> None:
    other = PersonaChange(files={"Ines": "personas/aisha.yaml"})
    world = changed(tiny(), AuditChange(name="file", level="agent", persona=other), 0, ROOT)
    assert ines(world)["name"].startswith("Aisha")


def test_what_does_not_fit_is_left_out_with_its_reason() -> None:
    bad = AuditChange(name="no habits", level="agent", persona=PersonaChange(without=("habits",)))
    found = plan(PLANTED, [*OURS.values(), bad])
    assert found.left_out["an hour later"] == "an appointment would be after the last tick"
    assert found.left_out["less close"] == "it changes nothing here"
    assert "at least 1 item" in found.left_out["no habits"]
    names = [one.name for one in found.variants]
    assert names[0] == USUAL and "nobody talks" in names and "an hour later" not in names
    assert len({cell.name for cell in found.cells}) == len(found.cells) == 32 * len(names)
    assert any("left out     an hour later" in line for line in plan_words(found))


def test_the_largest_are_run_in_pairs_that_change_different_things() -> None:
    found = plan(PLANTED, list(OURS.values()))
    pairs = with_pairs(found, ("other words", "cooler", "warmer", "nobody talks")).variants
    new = [one.name for one in pairs[len(found.variants) :]]
    assert new == ["other words + cooler", "other words + warmer"], (
        "not cooler and warmer; no ablation"
    )
    assert pairs[-1].level == "agent + model"
    assert list(together((OURS["cooler"], OURS["warmer"]))) == []


def test_a_study_that_claims_nothing_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    data = yaml.safe_load(PLANTED.read_text("utf-8").replace("../", f"{ROOT}/"))
    file.write_text(yaml.safe_dump({k: v for k, v in data.items() if k != "hypotheses"}), "utf-8")
    with pytest.raises(SpecError, match="no claim of two conditions"):
        plan(file, [])
    changes = tmp_path / "c.yaml"
    changes.write_text("changes: [{name: a b, level: agent}, {name: A  b, level: agent}]", "utf-8")
    with pytest.raises(SpecError, match="two changes are called 'a-b'"):
        read_changes(changes)


# verdicts


def contrast(value: float | None, low: float | None = None, high: float | None = None, why: str = "") -> Contrast:  # fmt: skip
    return Contrast(
        test="clients", first="a", second="b", difference=value, low=low, high=high, reason=why or None
    )  # fmt: skip


BASE = contrast(-4.0, -6.0, -2.0)


@each(
    "effect, shift, verdict",
    [
        (contrast(-3.5, -5.0, -2.0), contrast(0.5, -1.0, 2.0), "holds"),
        (contrast(-3.0, -6.5, 0.5), contrast(1.0, -0.5, 1.9), "holds"),  # less than half, beyond doubt
        (contrast(-3.0, -6.5, 0.5), contrast(1.0, -2.5, 4.5), "cannot be told"),
        (contrast(-1.0, -3.0, 1.0), contrast(3.0, 1.0, 5.0), "weakens"),
        (contrast(-2.5, -3.0, -2.0), contrast(1.5, 0.5, 2.5), "holds"),  # smaller, yet more than half
        (contrast(2.0, 0.5, 3.5), contrast(6.0, 4.0, 8.0), "turns"),
        (contrast(2.0, -0.5, 4.5), contrast(6.0, 4.0, 8.0), "weakens"),  # no doubt that it is gone
        (contrast(0.0, why="all pairs differ by the same amount; no variance"), contrast(4.0, 2.0, 6.0), "weakens"),
        (contrast(None, why="no value"), contrast(None, why="no value"), "cannot be told"),
    ],
)  # fmt: skip
def test_what_becomes_of_a_claim(effect: Contrast, shift: Contrast, verdict: str) -> None:
    assert becomes(BASE, effect, shift) == verdict


def table(values: dict[str, dict[str, list[float]]]) -> tuple[pd.DataFrame, dict[str, str]]:
    rows, of = [], {}
    for variant, arms in values.items():
        for arm, own in arms.items():
            of[f"{variant}-{arm}"] = variant
            rows += [
                {"run": f"{variant}-{arm}", "arm": arm, "client": client, "value": value, "instrument": "made",
                 "score": "total", "respondent": "self", "judge": "", "kind": "change", "reason": None}
                for client, value in zip("abcdef", own, strict=True)
            ]  # fmt: skip
    return pd.DataFrame(rows), of


def test_effect_and_shift_are_those_of_scipy_at_the_level_for_all_changes() -> None:
    alone = [0.0, 1, 0, 2, 1, 0]
    helped = [-4.0, -5, -3, -3, -6, -5]
    weaker = [-1.0, -2, 0, 1, -2, -1]
    usual = {"alone": alone, "helped": helped}
    rows, of = table({USUAL: usual, "one": {"alone": alone, "helped": weaker}, "two": usual})
    variants = [
        Variant(name=name, changes=(AuditChange(name=name, level="agent"),), cells=())
        for name in (USUAL, "one", "two")
    ]
    claim = Hypothesis(id="h", instrument="made", contrast=("helped", "alone"), direction="lower")
    found = audited(variants, of, claim, rows)
    one = found.outcomes[1]
    both = (
        np.subtract(weaker, alone),
        np.subtract(np.subtract(weaker, alone), np.subtract(helped, alone)),
    )
    for got, values in zip((one.effect, one.shift), both, strict=True):
        interval = stats.ttest_1samp(values, 0).confidence_interval(0.9875)
        assert got is not None
        assert (got.difference, got.low, got.high) == pytest.approx(
            (values.mean(), interval.low, interval.high)
        )
    assert found.becomes == "weakens" and "“one”" in found.because
    assert found.largest == ("one",)
    assert largest([found, found], 3) == ("one",) and largest([found], 0) == ()
    few = rows[rows["client"] < "f"]
    seldom = audited(variants, of, claim, few)
    assert seldom.because == "5 clients, and 6 are the least"
    assert {one.becomes for one in seldom.outcomes[1:]} == {"cannot be told"}
    wrong = claim.model_copy(update={"direction": "higher"})
    assert "no effect beyond doubt" in audited(variants, of, wrong, rows).because


def test_what_is_analyzed_otherwise_needs_no_runs() -> None:
    """Levels: the change is -4 and the last value the same in both, so that nothing is left of the effect."""
    rows, of = table({USUAL: {"alone": [0.0] * 6, "helped": [-4.0, -5, -3, -3, -6, -5]}})
    rows = rows.assign(last=[9.0, 8, 7, 9, 8, 7] * 2, seed=1)
    claim = Hypothesis(id="h", instrument="made", contrast=("helped", "alone"), direction="lower")
    usual = Variant(name=USUAL, changes=(), cells=())
    found = audited([usual], of, claim, rows)
    (levels,) = found.outcomes[1:]
    assert (levels.variant, levels.level, levels.becomes) == (
        "levels, not changes",
        "analysis",
        "weakens",
    )
    assert levels.effect.difference == 0
    assert levels.shift and levels.shift.difference == pytest.approx(26 / 6)
    assert found.largest == (), "nothing to be run in pairs"
    two = pd.concat([rows, rows.assign(seed=2, value=rows["value"] * 2)])
    names = [one.variant for one in audited([usual], of, claim, two, {"x"}).outcomes]
    assert names == [USUAL, "levels, not changes", "first seed alone"]
    alone = dict(analyses(rows, {str(rows["run"].iloc[0])}))["without runs with warnings"]
    assert 0 < len(alone) < len(rows)


@pytest.mark.slow(20)
@each(
    "truth, verdict, least",
    [("null", "cannot be told", 18), ("an effect that one change turns", "turns", 14)],
)
def test_made_up_studies_get_their_verdict(truth: str, verdict: str, least: int) -> None:
    """Of 20; tests/benchmarks/audit.py has all four truths over 100 each."""
    assert truth in TRUTHS
    assert verdicts(truth, 20)[verdict] >= least


# what PIMMUR asks


def test_the_control_differs_in_one_thing_or_it_is_said_in_what() -> None:
    assert minimal_control(plan(PLANTED, [])).verdict == "holds"
    found = minimal_control(plan(ROOT / "experiments" / "architectures.yaml", []))
    assert found.because.startswith("they differ in ")


def test_a_prompt_that_says_what_is_measured_is_found(tmp_path: Path) -> None:
    """A client's file that has an item of the scale, word for word."""
    from dataclasses import replace

    from simcounsel.engine.forking import changed_world
    from simcounsel.instruments.scale import find_scale
    from simcounsel.llm.embeddings import HashEmbeddings
    from simcounsel.specs.scale import Scale
    from tests.stage import live

    scale = find_scale("insomnia_severity")
    assert isinstance(scale, Scale)
    item = scale.items[0].text
    base = plan(PLANTED, [])
    for name, style in (("as-is", None), ("told", f"{item}. Quiet.")):
        cell = base.variants[0].cells[0]
        who = cell.client
        world = changed_world(
            cell.world, {f"residents.{who}.persona.style": style} if style else {}
        )
        run = live(tmp_path / name, world, ticks=2)
        one = replace(cell, name=run.name)
        made = replace(base, variants=(replace(base.variants[0], cells=(one,)),))
        claim, hits = named_outcome(made, tmp_path / name, HashEmbeddings().embed_now)
        assert claim.verdict == ("does not hold" if style else "undecided"), claim
        assert style or "hashed vectors see words" in claim.because
        assert bool(hits) == bool(style)


def test_guesses_are_held_against_chance() -> None:
    def some(right: int, of: int) -> list[Guess]:
        return [
            Guess(run="r", who="w", said="s", nearest="n", right=at < right) for at in range(of)
        ]

    assert blind([]).verdict == "not measured"
    assert blind(some(8, 8)).verdict == "does not hold"
    assert blind(some(0, 20)).verdict == "holds"
    assert blind(some(0, 8)).verdict == "undecided"
    assert blind(some(1, 3)).verdict == "undecided"


# the whole

CHANGES = """changes:
- {name: other words, level: agent, prompts: reworded}
- {name: nobody named, level: agent, persona: {without: [people]}}
- {name: nobody talks, level: interaction, do: ["mute:counselor"], ablation: true}
"""


@pytest.mark.slow(60)
@each(
    "model, says",
    [
        ("spread=1.5", "planted: HOLDS"),
        ("spread=0.5,only=People", "planted: WEAKENS (with “nobody named”)"),
    ],
)
def test_a_planted_effect_survives_and_a_planted_artifact_is_found(
    simcounsel: Command, tmp_path: Path, model: str, says: str
) -> None:
    text = (
        PLANTED.read_text("utf-8")
        .replace("../", f"{ROOT}/")
        .replace("repetitions: 2", "repetitions: 1")
    )
    data = yaml.safe_load(text.replace("spread=1.5", model))
    (tmp_path / "e.yaml").write_text(
        yaml.safe_dump(data | {"clients": data["clients"][:6]}), "utf-8"
    )
    (tmp_path / "c.yaml").write_text(CHANGES, "utf-8")
    out = tmp_path / model.replace(",", "-")
    ended = simcounsel(
        "study", "audit", tmp_path / "e.yaml", "--changes", tmp_path / "c.yaml", "--ask", 2, "--pairs", 0,
        "--out", out, "--quiet",
    )  # fmt: skip
    assert ended.code == 0, ended.out + ended.err
    assert says in ended.out
    claims = pd.read_csv(out / "tables" / "claims.csv").set_index("claim")
    gone = claims.loc["planted: the effect goes with “nobody talks”"]
    assert gone["verdict"] == "holds" and gone["because"].startswith("0 is left")
    assert len(pd.read_csv(out / "tables" / "audit_guesses.csv")) == 2
    page = (out / "validity.html").read_text("utf-8")
    assert (
        "Would the claims hold" in page and "audit_planted.svg" in page
    ) or "audit_planted" in page


def test_a_dry_run_says_what_would_be_run_and_runs_nothing(
    simcounsel: Command, tmp_path: Path
) -> None:
    ended = simcounsel("study", "audit", "planted_effect", "--dry-run", "--level", "model", "--model", "scripted", "--out", tmp_path / "a")  # fmt: skip
    assert ended.code == 0, ended.err
    assert "  model        cooler" in ended.out and "other words" not in ended.out
    assert "  model        model 1: scripted" in ended.out and "cost         0 USD" in ended.out
    assert not (tmp_path / "a").exists()
    wrong = simcounsel("study", "audit", "planted_effect", "--level", "people", "--dry-run")
    assert wrong.code == 2 and "there are agent, interaction, system, model" in wrong.err
    assert of_changes.OURS.is_file()


def test_how_readily_clients_open_up_and_agree(tmp_path: Path) -> None:
    """By hand: two of three lines go too far; of the two with an answer before them, one agrees."""
    run = live(tmp_path, tiny(), ticks=1)
    said = [
        ("Miriam", "Shall we try that?"),
        ("Ines", "Yes, good idea."),
        ("Miriam", "And now?"),
        ("Ines", "No."),
    ]
    fields = [
        {"kind": "said", "who": who, "chat": "c", "message": at, "text": text}
        for at, (who, text) in enumerate(said, 1)
    ]
    moved = {"kind": "client_shifted", "who": "Ines", "chat": "c"}
    fields += [
        moved | {"message": 2, "before": 2.0, "openness": 3.0, "claimed": 6.0},
        moved | {"message": 4, "before": 3.5, "openness": 3.5, "claimed": 3.5},
        moved | {"message": None, "before": 3.5, "openness": 3.5, "claimed": 4.0},
    ]
    (member,) = find([run.folder]).members
    log = SimpleNamespace(
        fields=lambda kinds: (one for one in fields if one["kind"] in kinds),
        manifest=member.manifest,
    )
    table = compliance([replace(member, log=log)])
    assert table.to_dict("records") == [
        {"client": "Ines", "too far": 2 / 3, "closed": 1.0, "open": 0.0}
    ]
    assert complied(table).verdict == "undecided", "one client"
    nobody = complied(table.iloc[0:0])
    assert nobody.verdict == "not measured" and "client_state: moves" in nobody.because
    seldom = pd.DataFrame({"too far": [0.0, 0.02] * 4, "closed": None, "open": 0.5})
    assert complied(seldom).verdict == "holds"
    often = complied(seldom.assign(**{"too far": [0.5, 0.6] * 4}))
    assert often.verdict == "does not hold" and "0.5 of lines agree at above" in often.because
