"""Manuals: those that come with simcounsel hold together; of others every problem is named with its line; all can be drawn."""

import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from simcounsel.cli import app
from simcounsel.cli.check import check_file
from simcounsel.errors import SpecError
from simcounsel.specs.practice import PolicySpec
from simcounsel.specs.world_file import load_world
from simcounsel.therapies.specs.manual import Manual
from simcounsel.therapies.staged.diagram import diagram_of
from simcounsel.therapies.staged.exercises import library
from simcounsel.therapies.staged.manuals import manual_of, names, shipped
from tests.each import each
from tests.stage import ROOT

FOLDER = ROOT / "simcounsel" / "therapies" / "manuals"
OURS = [(language, name) for language in ("en", "zh") for name in names(language)]  # type: ignore[arg-type]
SMALL = """name: small
about: A manual with two states.
closing: bye
phases:
  initiation:
    - id: hello
      objective: Greet.
      start: true
      prompt: Greet them.
      exit: {when: sufficient, criteria: [They answered.]}
      next: [offer]
      lines: [Hello., Welcome., Good day., Come in.]
  intervention:
    - id: offer
      objective: Offer something.
      prompt: Offer it.
      exit: {when: intent, intents: {"yes": hello, "no": bye}, otherwise: bye}
      next: [hello, bye]
      lines: ["Would you?", "Will you?", "Shall we?", "May I?"]
  conclusion:
    - id: bye
      objective: Say goodbye.
      prompt: Say goodbye.
      at_least: 0
      exit: {when: end}
      lines: [Bye., Goodbye., Farewell., So long.]
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "small.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@each(("language", "name"), OURS)
def test_ours_hold_together(language: str, name: str) -> None:
    assert check_file(FOLDER / language / f"{name}.yaml") == []
    manual = shipped(name, language)  # type: ignore[arg-type]
    assert (manual.name, manual.language) == (name, language)
    known = {one.id for one in library(language).contraindications}
    assert all(set(state.not_when) <= known for state in manual.states.values())


def test_the_staged_protocol_has_the_papers_states_and_loops() -> None:
    manual = shipped("attachment_selfcare", "en")
    assert [len(states) for states in manual.phases.values()] == [3, 2, 5, 2]
    assert {
        name: state.at_least for name, state in manual.states.items() if state.at_least > 1
    } == {"emotion": 2, "event": 2, "open_talk": 4}
    ways = {(state.id, what): to for state in manual.states.values() for what, to in state.leads_to}
    assert ways["mood", "positive"] == "consent"
    assert ways["mood", "negative"] == "event"
    assert ways["event", "tell_more"] == "open_talk"
    assert ways["consent", "no"] == "thanks"
    assert ways["explanation", "another"] == "another"
    assert ways["another", "yes"] == "suggestion"
    assert manual.days.cap == 8


@pytest.mark.parametrize("name", names("zh"))
def test_the_chinese_manual_is_the_english_one(name: str) -> None:
    ours, theirs = shipped(name, "zh"), shipped(name, "en")
    shape = [
        (
            s.id,
            s.at_least,
            s.at_most,
            s.next,
            s.exit.when,
            s.exit.intents,
            s.exercise,
            s.act,
            len(s.exit.criteria),
        )
        for s in ours.states.values()
    ]
    assert shape == [
        (
            s.id,
            s.at_least,
            s.at_most,
            s.next,
            s.exit.when,
            s.exit.intents,
            s.exercise,
            s.act,
            len(s.exit.criteria),
        )
        for s in theirs.states.values()
    ]


def test_a_small_one_is_sound(tmp_path: Path) -> None:
    assert check_file(written(tmp_path, SMALL)) == []


@each(
    ("old", "new", "at", "what"),
    [
        ("next: [offer]", "next: [ofer]", "next: [ofer]", "no state 'ofer'; did you mean 'offer'?"),
        (
            '"no": bye}',
            '"no": hallo}',
            "exit: {when: intent",
            "'no' leads to 'hallo', but no state has that id; did you mean 'hello'?",
        ),
        (
            "next: [hello, bye]",
            "next: [bye]",
            "exit: {when: intent",
            "'yes' leads to 'hello', which is not an allowed next state: bye",
        ),
        (
            '"yes": hello',
            '"sure": hello',
            "exit: {when: intent",
            "'sure' is not one of yes, no, explain, another, done, tell_more",
        ),
        (
            "criteria: [They answered.]",
            "criteria: []",
            "exit: {when: suff",
            "no criteria: what must the client's words make clear?",
        ),
        (
            "      start: true\n",
            "",
            "phases:",
            "no state begins the session; give one `start: true`",
        ),
        (
            "objective: Offer something.",
            "objective: Offer something.\n      start: true",
            "start: true\n      prompt: Offer",
            "'offer' begins the session as well as 'hello'",
        ),
        (
            "exit: {when: end}",
            "exit: {when: said}\n      next: [hello]",
            "phases:",
            "no state ends the session",
        ),
        ("closing: bye", "closing: goodbye", "closing:", "no state 'goodbye'; did you mean 'bye'?"),
        ("closing: bye", "closing: offer", "closing:", "'offer' is no state of the conclusion"),
        (
            "prompt: Offer it.",
            "prompt: Offer it.\n      at_least: 5\n      at_most: 3",
            "at_least: 5",
            "at least 5 messages, but the state is left after 3",
        ),
        (
            "lines: [Hello., Welcome., Good day., Come in.]",
            "lines: [Hello.]",
            "lines: [Hello.]",
            "1 lines; at least 4",
        ),
        (
            "Hello., Welcome.",
            '"Hello {who}.", Welcome.',
            'lines: ["Hello {who}',
            "no slot {who}; there are {feeling}, {name}, {words}",
        ),
        (
            "prompt: Offer it.",
            "prompt: Offer it.\n      exercise: explain",
            "exercise: explain",
            "can be reached before any exercise was suggested",
        ),
        (
            "  intervention:",
            "  interlude:",
            "interlude:",
            "'interlude' is not one of initiation, exploration, intervention, conclusion",
        ),
        (
            "otherwise: bye}",
            "}",
            "exit: {when: intent",
            "where does it go when the answer stays unclear? add `otherwise: STATE`",
        ),
        (
            "    - id: offer",
            "    - id: hello",
            "- id: hello",
            "2 states have the id 'hello'; ids must differ",
        ),
        ("next: [hello, bye]", "next: [hello, bye]\n      not_when: [epilepsy]", "", ""),
    ],
)
def test_each_problem_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, at: str, what: str
) -> None:
    assert old in SMALL
    text = SMALL.replace(old, new, 1)
    problems = check_file(written(tmp_path, text))
    if not what:
        with pytest.raises(SpecError, match="no contraindication 'epilepsy'"):
            manual_of(Manual.model_validate(_data(text)), "en")
        return
    line = text[: text.index(at)].count("\n") + 1
    assert any(
        problem.startswith(f"{tmp_path / 'small.yaml'}:{line}:") and what in problem
        for problem in problems
    ), problems


@each(
    ("old", "new"),
    [
        ('"no": bye}', '"no": bey}'),
        ("otherwise: bye}", "otherwise: bey}"),
        ("next: [hello, bye]", "next: [hello, bey]"),
        ("next: [offer]", "next: [ofer]"),
    ],
)
def test_one_mistake_is_one_problem(tmp_path: Path, old: str, new: str) -> None:
    assert old in SMALL
    (problem,) = check_file(written(tmp_path, SMALL.replace(old, new, 1)))
    assert "no state" in problem and "did you mean" in problem


def _data(text: str) -> object:
    from simcounsel.specs.load import read_value

    return read_value(text)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        (
            [
                ('"no": bye}, otherwise: bye}', '"no": offer}, otherwise: offer}'),
                ("next: [hello, bye]", "next: [hello, offer]"),
            ],
            "no way leads from 'hello' to an end",
        ),
        ([("next: [offer]", "next: [bye]")], "nothing leads to 'offer' from 'hello'"),
    ],
)
def test_the_graph_has_no_dead_end_and_nothing_beside_it(
    tmp_path: Path, changes: list[tuple[str, str]], what: str
) -> None:
    text = SMALL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    assert any(what in problem for problem in check_file(written(tmp_path, text)))


def test_routers_that_lead_to_each_other_would_hang(tmp_path: Path) -> None:
    routers = "\n".join(
        f"    - {{id: {a}, objective: Route., exit: {{when: valence, positive: {b}, negative: offer}}, next: [{b}, offer]}}"
        for a, b in (("one", "two"), ("two", "one"))
    )
    text = SMALL.replace("next: [offer]", "next: [one]").replace(
        "  intervention:\n", f"  exploration:\n{routers}\n  intervention:\n"
    )
    problems = check_file(written(tmp_path, text))
    assert len(problems) == 1
    assert "lead to each other without a word said" in problems[0]


@each(("language", "name"), OURS)
def test_the_diagram_shows_every_state_and_transition(language: str, name: str) -> None:
    manual = shipped(name, language)  # type: ignore[arg-type]
    lines = diagram_of(manual).splitlines()
    assert lines[0] == "flowchart TD"
    nodes = [found[1] for line in lines if (found := re.match(r"    state_(\w+)\W", line))]
    assert sorted(nodes) == sorted(manual.states)
    arrows = [
        found.groups()
        for line in lines
        if (found := re.fullmatch(r'  state_(\w+) -->\|"[^"]+"\| state_(\w+)', line))
    ]
    pairs = {(state.id, to) for state in manual.states.values() for _, to in state.leads_to}
    assert sorted(arrows) == sorted(pairs)
    groups = [line for line in lines if line.startswith("  subgraph ")]
    assert groups == [f'  subgraph phase_{phase} ["{phase}"]' for phase in manual.phases]
    assert lines.count("  end") == len(groups)
    assert len(lines) == 1 + 2 * len(groups) + len(nodes) + len(arrows)


def test_what_means_something_in_mermaid_is_written_out() -> None:
    hello = Manual.model_validate(
        yaml.safe_load(SMALL.replace("objective: Greet.", "objective: 'Say \"hello\" <#1>.'"))
    )
    assert '(["hello<br/>Say #quot;hello#quot; #lt;#35;1#gt;."])' in diagram_of(hello)


def test_check_draws_it(tmp_path: Path) -> None:
    runner = CliRunner()
    file = written(tmp_path, SMALL)
    done = runner.invoke(app, ["check", str(file), "--graph", str(tmp_path / "g.mmd")])
    assert done.exit_code == 0
    assert f"wrote {tmp_path / 'g.mmd'}" in done.output
    assert (tmp_path / "g.mmd").read_text(encoding="utf-8").startswith("flowchart TD\n")
    other = runner.invoke(
        app, ["check", str(ROOT / "worlds" / "tiny.yaml"), "--graph", str(tmp_path / "w.mmd")]
    )
    assert isinstance(other.exception, SpecError) or other.exit_code
    assert not (tmp_path / "w.mmd").exists()
    with pytest.raises(SpecError, match="tiny.yaml: not a manual"):
        from simcounsel.cli.check import graph_of_file

        graph_of_file(ROOT / "worlds" / "tiny.yaml")
    two = runner.invoke(app, ["check", str(file), str(file), "--graph", str(tmp_path / "t.mmd")])
    assert two.exit_code == 2


# in a world


def world_with(folder: Path, policy: str) -> Path:
    text = (
        (ROOT / "worlds" / "tiny.yaml")
        .read_text(encoding="utf-8")
        .replace("../personas", str(ROOT / "personas"))
    )
    file = folder / "world.yaml"
    file.write_text(
        text.replace("miriam.yaml,", f"miriam.yaml, policy: {policy},"), encoding="utf-8"
    )
    return file


def test_a_world_holds_the_manual_in_full(tmp_path: Path) -> None:
    written(tmp_path, SMALL)
    for policy in (
        "small.yaml",
        "{name: staged, manual: small.yaml}",
        "{name: single, manual: small.yaml}",
    ):
        file = world_with(tmp_path, policy)
        assert check_file(file) == []
        world = load_world(file)
        spec = next(r.policy for r in world.residents if r.name == "Miriam")
        assert spec is not None
        assert isinstance(spec.manual, Manual)
        assert spec.manual.name == "small"
        assert type(world).model_validate_json(world.model_dump_json()) == world


def test_a_world_names_one_of_ours(tmp_path: Path) -> None:
    assert check_file(world_with(tmp_path, "{name: staged, manual: motivational}")) == []
    problems = check_file(world_with(tmp_path, "{name: staged, manual: motivation}"))
    assert len(problems) == 1
    assert (
        "no manual 'motivation' in the language 'en'; did you mean \"motivational\"?" in problems[0]
    )


def test_a_worlds_manual_is_checked_with_it(tmp_path: Path) -> None:
    written(tmp_path, SMALL.replace("next: [offer]", "next: [ofer]"))
    problems = check_file(world_with(tmp_path, "small.yaml"))
    assert (
        f"{tmp_path / 'small.yaml'}:11: phases.initiation.0.next.0: no state 'ofer'" in problems[0]
    )
    missing = check_file(world_with(tmp_path, "smaal.yaml"))
    assert "no such file; did you mean" in missing[0]


def test_a_policy_told_what_it_does_not_take_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="socratic takes no manual; that is for single and staged"):
        PolicySpec(name="socratic", manual="motivational")
    problems = check_file(world_with(tmp_path, "{name: unguided, manual: motivational}"))
    assert "unguided takes no manual" in problems[0]
