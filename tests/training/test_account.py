"""Plans, their errors by file and line, and `simcounsel train account` as it is typed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from simcounsel.errors import SpecError
from tests.commands import Command, in_process
from tests.each import each
from training.__main__ import main
from training.plan import TrainingPlan
from training.privacy import budget, gaussian
from training.sites import load_plan

ROOT = Path(__file__).parents[2]
CONFIGS = ROOT / "training" / "configs"
SITE = """\
sites:
  - {name: north, sessions: 900}
  - {name: south, sessions: 100, count: 2}
rounds: 100
averaging: {secure: true}
privacy:
  unit: site
  clip: 1
  delta: 1e-5
  noise_at: sum
  noise_multiplier: 20
"""
SESSION = """\
sites:
  - {name: north, sessions: 800, clients: 300}
  - {name: south, sessions: 200, clients: 100}
rounds: 5
batch_size: 40
privacy:
  unit: session
  clip: 1
  delta: 1e-5
  noise_multiplier: 2
"""
CLIENT = SESSION.replace(
    "unit: session",
    "unit: client\n  draw: session\n  sessions_per_client: 3\n  disjoint_sites: true",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "plan.yaml"


def plan_of(file: Path, text: str) -> TrainingPlan:
    file.write_text(text, encoding="utf-8")
    return load_plan(file)[0]


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command line in this process."""
    monkeypatch.chdir(ROOT)
    return in_process("training", main, monkeypatch, capsys)


@each(
    ("text", "line", "what"),
    [
        (SITE.replace("  unit: site\n", ""), 6, "unit is missing"),
        (SITE.replace("clip: 1", "sensitivity: 0.0001"), 6, "it follows from `clip`"),
        (SITE.replace("1e-5", "0.5"), 9, "0.5 is not below 1/3, one over the number of sites"),
        (SITE.replace("1e-5", "0"), 9, "0 is no probability"),
        (SITE.replace("multiplier: 20", "multiplier: 0"), 11, "0 adds no noise"),
        (SITE.replace("multiplier: 20", "multiplier: nan"), 11, "valid number"),
        (SITE.replace("clip: 1", "clip: 0"), 8, "greater than 0"),
        (SITE + "  participation: 1.5\n", 12, "1.5 is out of range"),
        (SITE + "  participation: 0\n", 12, "0 is out of range"),
        (SITE + "  participation: 0.5\n  adjacency: replaced\n", 13, "participation: 1"),
        (SITE + "  weights: by_size\n  max_weight: 2\n", 13, "2 is out of range"),
        (SITE + "  max_weight: 0.5\n", 12, "weights: by_size"),
        (SITE + "  stated_epsilon: 1\n", 12, "calibration: paper"),
        (SITE + "  calibration: paper\n  stated_epsilon: 1\n", 11, "keep one of the two"),
        (SITE + "  calibration: paper\n", 12, "needs `stated_epsilon`"),
        (SITE + "  draw: client\n", 12, "belongs to `unit: client`"),
        (SITE + "  dropouts: 2\n", 12, "2 of 3 sites: more than half must answer"),
        (SITE.replace("sum", "each_site") + "  dropouts: 1\n", 12, "belongs to `noise_at: sum`"),
        (SITE.replace(", count: 2", ""), 10, "needs three sites or more, not 2"),
        (SITE.replace("averaging: {secure: true}", "local_epochs: 1"), 10, "add `averaging:"),
        (SITE.replace("noise_multiplier: 20", "budget_epsilon: 0.001"), 11, "is too small for a"),
        (SESSION + "noise: seeded\n", 11, "takes `seeded` noise away, so it protects nobody"),
        (SITE.replace("  noise_at: sum\n", ""), 6, "noise_at is missing"),
        (SITE.replace("  noise_multiplier: 20\n", ""), 6, "nothing says how much noise"),
        (SESSION.replace("1e-5", "0.001"), 9, "not below 1/1000, one over the number of sessions"),
        (
            SESSION.replace("batch_size: 40", "batch_size: 400"),
            5,
            "400 out of 200 sessions at 'south' is a sampling rate of 2",
        ),
        (SESSION.replace("batch_size: 40\n", ""), 1, "batch_size is missing"),
        (SESSION + "  participation: 0.5\n", 11, "belongs to `unit: site`"),
        (CLIENT.replace(", clients: 100", ""), 3, "does not say how many `clients`"),
        (
            CLIENT.replace("clients: 100", "clients: 60"),
            3,
            "60 clients with at most 3 each have fewer",
        ),
        (CLIENT.replace("clients: 100", "clients: 300"), 3, "300 clients but only 200 sessions"),
        (CLIENT.replace("  sessions_per_client: 3\n", ""), 8, "needs `sessions_per_client`"),
        (CLIENT.replace("  disjoint_sites: true\n", ""), 6, "disjoint_sites is missing"),
        (CLIENT.replace("  draw: session\n", ""), 6, "draw is missing"),
        (CLIENT.replace("draw: session", "draw: client"), 9, "no cap is counted"),
    ],
)
def test_a_wrong_plan_is_told_with_its_line(file: Path, text: str, line: int, what: str) -> None:
    with pytest.raises(SpecError) as caught:
        plan_of(file, text)
    assert any(
        problem.startswith(f"{file}:{line}: ") and what in problem
        for problem in caught.value.problems
    ), caught.value.problems


def test_sensitivity_is_clip_times_the_largest_weight(file: Path) -> None:
    """One large site moves a weighted average by nearly the whole clip, not by clip / 3."""
    assert budget.sensitivity(plan_of(file, SITE)) == pytest.approx(1 / 3)
    weighted = plan_of(file, SITE.replace("clip: 1", "clip: 2") + "  weights: by_size\n")
    assert budget.sensitivity(weighted) == pytest.approx(2 * 900 / 1100)
    assert budget.noise_std(weighted, 20) == pytest.approx(20 * 2 * 900 / 1100)
    assert budget.sensitivity(
        plan_of(file, SITE + "  weights: by_size\n  max_weight: 0.6\n")
    ) == pytest.approx(0.6)
    assert budget.sensitivity(plan_of(file, SITE + "  adjacency: replaced\n")) == pytest.approx(
        2 / 3
    )
    assert (
        budget.sensitivity(plan_of(file, SITE.replace("sum", "each_site") + "  weights: by_size\n"))
        == 1
    )
    assert budget.sensitivity(plan_of(file, CLIENT)) == 3


@pytest.mark.slow
def test_sites_share_no_budget_where_they_share_nobody(file: Path) -> None:
    """The total is the costliest site's; a client who may be at all of them pays for all."""
    made = budget.make(plan_of(file, CLIENT))
    north, south = dict(made.by_site)["north"], dict(made.by_site)["south"]
    assert made.total_epsilon == max(north, south) == south > north
    shared = budget.make(
        plan_of(file, CLIENT.replace("disjoint_sites: true", "disjoint_sites: false"))
    )
    assert south < shared.total_epsilon < north + south


def test_noise_at_a_site_gains_nothing_from_draws_that_the_server_sees(file: Path) -> None:
    at_sites = SITE.replace("sum", "each_site")
    assert (
        budget.make(plan_of(file, at_sites + "  participation: 0.2\n")).total_epsilon
        == budget.make(plan_of(file, at_sites)).total_epsilon
    )
    assert (
        budget.make(plan_of(file, SITE + "  participation: 0.2\n")).total_epsilon
        < 0.5 * budget.make(plan_of(file, SITE)).total_epsilon
    )


def test_one_table_says_who_is_protected_from_whom(file: Path, training: Command) -> None:
    """Of a sum: another site knows its own share of the noise, and a server that lies may see one share alone."""
    plan_of(file, SITE.replace("count: 2", "count: 9") + "  dropouts: 2\n")
    done = training("account", str(file), "--no-table")
    told = done.out.splitlines()
    at = told.index("who is protected from whom: epsilon for one site, delta 1e-05")
    rows = {line[2:18].strip(): line[18:24].strip() for line in told[at + 1 : at + 5]}
    total = float(rows["outsiders"])
    assert rows["curious server"] == rows["outsiders"]
    seen = {name: gaussian.epsilon_of(20 * factor, 1e-5, 100) for name, factor in SHARES.items()}
    assert total == pytest.approx(gaussian.epsilon_of(20, 1e-5, 100), rel=1e-3)
    for name, epsilon in seen.items():
        assert total < float(rows[name]) == pytest.approx(epsilon, rel=2e-3)
    assert "any 8 of 10 together have what is needed" in done.out
    assert "--trusted-entities" in told[at + 4]
    file.write_text(SESSION + "noise: seeded\npublic_data: true\n", encoding="utf-8")
    told = training("account", str(file), "--no-table").out
    assert re.search(r"anybody +none +the noise is seeded", told)


SHARES = {"other sites": (7 / 8) ** 0.5, "lying server": (1 / 8) ** 0.5}


def test_a_drawn_client_is_one_gradient(file: Path) -> None:
    whole = plan_of(file, CLIENT.replace("draw: session\n  sessions_per_client: 3", "draw: client"))
    assert [whole.rate(site) for site in whole.sites] == pytest.approx([40 / 300, 0.4])
    assert [whole.steps_per_round(site) for site in whole.sites] == [8, 3]
    assert budget.sensitivity(whole) == 1


def test_steps_are_rounded_up(file: Path) -> None:
    plan = plan_of(file, SESSION.replace("batch_size: 40", "batch_size: 30\nlocal_epochs: 2"))
    assert [plan.steps_per_round(site) for site in plan.sites] == [54, 14]


@pytest.mark.slow
def test_a_plan_that_overruns_its_budget_is_refused_with_the_round(
    file: Path, training: Command
) -> None:
    file.write_text(SITE + "  budget_epsilon: 1.5\n", encoding="utf-8")
    made = budget.make(load_plan(file)[0])
    assert made.last_round is not None
    assert (
        gaussian.epsilon_of(20, 1e-5, made.last_round)
        <= 1.5
        < gaussian.epsilon_of(20, 1e-5, made.last_round + 1)
    )
    done = training("account", str(file), "--no-table")
    assert done.code == 1
    assert (
        f"{file}:12: privacy.budget_epsilon: 1.5 for one site would be overrun after round {made.last_round} of 100"
        in done.err
    )
    file.write_text(SITE + "  budget_epsilon: 3\n", encoding="utf-8")
    assert training("account", str(file), "--no-table").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["record_dp", "client_dp", "mindchat"])
def test_every_number_names_its_unit(name: str, training: Command) -> None:
    done = training("account", str(CONFIGS / f"{name}.yaml"), "--epsilon", "8", "--rounds", "10")
    assert done.code == 0, done.err
    unit = load_plan(CONFIGS / f"{name}.yaml")[0].privacy.unit
    told = [
        line for line in done.out.splitlines() if re.search(r"epsilon [0-9]|by total epsilon", line)
    ]
    assert len(told) >= 3
    assert all(f"one {unit}" in line for line in told), told


@pytest.mark.slow
def test_the_papers_plan_says_what_it_really_costs(training: Command) -> None:
    done = training("account", str(CONFIGS / "mindchat.yaml"), "--no-table")
    assert "in total        epsilon 10.39 for one site, delta 1e-05, after 100 rounds" in done.out
    assert re.search(r"1 +4\.8448 +0\.751 +10\.39 +25\.44 +0\.532 +37\.31\n", done.out)


@pytest.mark.slow
def test_the_configs_keep_their_budgets() -> None:
    for name in ("record_dp", "client_dp"):
        made = budget.make(load_plan(CONFIGS / f"{name}.yaml")[0])
        assert made.last_round is None
        assert 7.9 < made.total_epsilon <= 8


def test_a_missing_package_is_named_with_its_extra(tmp_path: Path) -> None:
    (tmp_path / "dp_accounting.py").write_text(
        "raise ModuleNotFoundError('gone', name='dp_accounting')\n", encoding="utf-8"
    )
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from training.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), "account", str(CONFIGS / "mindchat.yaml")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert (
        done.stderr == "training: the package dp_accounting is missing; pip install -e '.[train]'\n"
    )


@pytest.mark.slow
def test_nothing_heavy_is_imported() -> None:
    code = "import sys, training.privacy.statement; print([name for name in ('torch', 'pandas', 'sklearn', 'matplotlib') if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "[]\n", done.stderr
