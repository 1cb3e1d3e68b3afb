"""`corpus check` from outside: exit codes, table, JSON, page, redaction, and files that mean harm."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from simcounsel.cli import app
from simcounsel.corpus.checks import check_dialogues
from simcounsel.corpus.checks.page import page
from simcounsel.corpus.dialogues import Dialogue, Turn
from simcounsel.corpus.reading import read_dialogues
from simcounsel.corpus.redaction import corpus_lines
from tests.corpus.talks import FILLER, talk
from tests.each import each

if TYPE_CHECKING:  # in [test-all]
    from playwright.sync_api import Browser

EVIL = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> $title ${table}"


def check(*words: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["corpus", "check", *map(str, words)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def corpus_file(folder: Path, *dialogues: Dialogue) -> Path:
    file = folder / "corpus.jsonl"
    file.write_text(corpus_lines(dialogues), encoding="utf-8")
    return file


def test_clean_warned_faulty_and_unreadable(tmp_path: Path) -> None:
    assert check(corpus_file(tmp_path, talk(*FILLER)))[:2] == (
        0,
        "1 dialogue, 1 without an error; 0 errors and 0 warnings by 18 rules\n",
    )
    code, out, _ = check(corpus_file(tmp_path, talk(*FILLER, "C: Bye.")))
    assert (
        code == 0
        and "one, turn 5: warning: ends_on_client: ends with the client, unanswered: “Bye.”\n    add the counselor's last line"
        in out
    )
    faulty = corpus_file(tmp_path, talk("C: Hello."))
    assert (
        check(faulty)[0] == 1
        and check(faulty, "--skip", "too_short", "--skip", "single_speaker")[0] == 0
        and check(faulty, "--rule", "leak")[0] == 0
    )
    code, _, err = check(tmp_path / "none.jsonl")
    assert code == 2 and "no such file" in err
    code, _, err = check(faulty, "--rule", "lek")
    assert code == 2 and "did you mean 'leak'?" in err


@pytest.mark.slow
def test_the_shipped_samples_have_no_error_and_their_planted_faults_are_seen() -> None:
    samples = read_dialogues("samples")
    assert [(f.dialogue, f.turn, f.rule) for f in check_dialogues(samples).errors] == []
    planted = {
        "list_reply": "list_like",
        "role_reversal": "role_reversal",
        "agenda_leak": "leak",
        "templated": "templated",
        "unaddressed_risk": "unaddressed_risk",
    }
    faulted = read_dialogues("samples:faulted")
    found = {(finding.dialogue, finding.rule) for finding in check_dialogues(faulted).errors}
    wanted = {
        (dialogue.id, planted[fault.kind])
        for dialogue in faulted
        for fault in dialogue.faults
        if fault.kind in planted
    }
    assert len(wanted) >= len(planted) and wanted <= found
    assert {dialogue for dialogue, _ in found} == {dialogue for dialogue, _ in wanted}, (
        "the others have faults that words do not show"
    )


def test_a_long_check_says_which_rule_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = corpus_file(tmp_path, talk(*FILLER))
    assert check(file)[2] == "", "a short one says nothing"
    monkeypatch.setattr("simcounsel.corpus.commands.QUIET_S", -1.0)
    assert (
        check(file, "--rule", "leak", "--rule", "templated")[2]
        == "rule 1 of 2: templated ...\nrule 2 of 2: leak ...\n"
    )


def test_few_are_shown_and_json_has_all(tmp_path: Path) -> None:
    file = corpus_file(tmp_path, *(talk(*FILLER, f"C: Bye {n}.", id=f"d{n}") for n in range(9)))
    _, out, _ = check(file, "--rule", "ends_on_client")
    assert (
        out.count("warning: ends_on_client") == 5
        and "and 4 more of ends_on_client; --html FILE or --json shows them" in out
    )
    code, out, _ = check(file, "--rule", "ends_on_client", "--json")
    told = json.loads(out)
    assert (
        code == 0
        and len(told["findings"]) == 9
        and told["counts"]["ends_on_client"] == {"errors": 0, "warnings": 9, "dialogues": 9}
        and told["dialogues"] == 9
    )


def test_redact_writes_a_corpus_and_nothing_over_another(tmp_path: Path) -> None:
    file, out = (
        corpus_file(tmp_path, talk(*FILLER, "C: Write to a@b.example.org.", "T: I will.")),
        tmp_path / "out.jsonl",
    )
    code, said, _ = check(file, "--redact", out)
    assert (
        code == 1 and "mail 1" in said and read_dialogues(out)[0].lines()[4] == "Write to [mail 1]."
    )
    assert check(out)[0] == 0
    code, _, err = check(file, "--redact", out)
    assert code == 2 and "is there already" in err
    code, _, err = check(file, "--html", tmp_path / "no" / "x.html")
    assert code == 2 and "cannot be written" in err


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_in_a_browser(width: int, browser: "Browser", tmp_path: Path) -> None:
    """It fits, runs nothing that a dialogue holds, marks the place, and screen readers can follow."""
    from axe_playwright_python.sync_playwright import Axe

    dialogues = [
        talk(
            f"C: Hello {EVIL}",
            "T: 1. Breathe. 2. Count. 3. Walk.",
            f"C: مرحبا {'x' * 300}",
            "T: a@b.example.org",
            id=EVIL,
        ),
        talk("C: a", id="b"),
    ]
    file = tmp_path / "check.html"
    file.write_text(page(check_dialogues(dialogues), dialogues, EVIL), encoding="utf-8")
    seen = browser.new_page(viewport={"width": width, "height": 800})
    seen.goto(file.as_uri())
    assert "<script>" in seen.title() and seen.locator("script, img").count() == 0
    assert seen.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert "1. Breathe." in seen.locator("#list_like ~ article mark").first.inner_text()
    assert seen.locator("table tbody tr").count() == len(check_dialogues(dialogues).counts())
    assert not Axe().run(seen).response["violations"]
    seen.close()


HARMFUL = {
    "nul": "a\0b \x1b[31mred\x07",
    "surrogate": "lone \ud800 surrogate",
    "right to left": "\u202eevil\u202c שלום לך, מה שלומך היום?",
    "digits": "1 " * 20_000,
    "dots": "1. " * 20_000,
    "spaces": " " * 100_000 + "x",
    "at": "a@" * 20_000,
    "words": "my sister " * 10_000,
    "capitals": "Ab " * 20_000,
    "quotes": "“" * 20_000,
    "braces": "{" * 20_000,
    "brackets": "<think" * 5_000,
    "denials": "not " * 10_000 + "die",
    "chinese": "我没有" * 10_000 + "死",
    "hyphens": "a-" * 20_000,
    "dotted": "a." * 20_000,
    "one word": "x" * 300_000,
    "newlines": "\n- " * 20_000,
    "clauses": "I want to die, " * 3_000,
    "road": "12 " + "Abc " * 10_000,
    "phones": "020 7946 0018 " * 1_000,
}


@pytest.mark.slow
@each("text", HARMFUL.values())
def test_no_text_takes_long_or_breaks_the_telling(text: str) -> None:
    dialogue = Dialogue.model_construct(
        **dict(talk(*FILLER))
        | {
            "turns": (
                Turn.model_construct(**dict(Turn(speaker="client", text="")) | {"text": text}),
                Turn(speaker="counselor", text=text[:100_000].encode("utf-8", "replace").decode()),
            )
        }
    )
    start = time.process_time()
    done = check_dialogues([dialogue])
    page(done, [dialogue], "x").encode("utf-8", "replace")
    assert time.process_time() - start < 10
    assert all(
        character.isprintable() or character == "\n"
        for finding in done.findings
        for character in finding.what.encode("utf-8", "replace").decode()
    )


def test_an_id_cannot_turn_the_terminal(tmp_path: Path) -> None:
    _, out, _ = check(corpus_file(tmp_path, talk("C: Hello.", id="\u202e\x1b[2Jone")))
    assert (
        "\u202e" not in out
        and "\x1b" not in out
        and "\ufffd\ufffd[2Jone: error: single_speaker" in out
    )


@pytest.mark.slow
def test_ten_thousand_turns() -> None:
    lines = [
        line
        for n in range(2_500)
        for line in (
            f"C: I want to die number {n}.",
            f"T: What about thing {n}?",
            f"C: My sister Anna{n} said so.",
            "T: Mm.",
        )
    ]
    start = time.process_time()
    done = check_dialogues([talk(*lines)])
    assert time.process_time() - start < 30 and done.counts()["unaddressed_risk"].errors == 2_500


@pytest.mark.slow
def test_the_same_in_another_order_of_hashing(tmp_path: Path) -> None:
    import os
    import subprocess
    import sys

    file = corpus_file(
        tmp_path,
        *(talk(*FILLER, "C: My sister Anna rang.", f"T: Who {n}?", id=f"d{n}") for n in range(5)),
    )
    told = {
        subprocess.run(
            [sys.executable, "-m", "simcounsel", "corpus", "check", str(file), "--json"],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=False,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1 and b"near_duplicate" in next(iter(told))
