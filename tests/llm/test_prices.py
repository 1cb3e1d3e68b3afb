"""The price table and the user's own over it."""

from pathlib import Path

import pytest

from simcounsel.errors import SpecError
from simcounsel.llm.prices import OURS, PriceFile, Prices
from simcounsel.specs.load import load_spec
from tests.each import each


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@each(
    ("name", "usd"),
    [
        ("openai:gpt-4o", 12.5),
        ("openai:gpt-4o-2024-11-20", 12.5),
        ("openai:gpt-4o-2024-05-13", 20.0),
        ("openai:gpt-4o-mini", 0.75),
        ("openai:gpt-4o-mini-2024-07-18", 0.75),
        ("openai:gpt-3.5-turbo-0125", 2.0),
        ("openai:text-embedding-3-small", 0.02),
        ("anthropic:claude-sonnet-4-20250514", 18.0),
        ("langchain:anthropic:claude-sonnet-4-5-20250929", 18.0),
        ("langchain:google_vertexai:gemini-2.5-flash-preview-05-20", 2.8),
        ("https://api.deepseek.com/v1/deepseek-chat", 0.7),
    ],
)
def test_known_prices(name: str, usd: float) -> None:
    assert Prices.load().cost_usd(name, 1_000_000, 1_000_000) == pytest.approx(usd)


@each(
    "name",
    [
        "embedded",
        "embedded+adapter=tuned",
        "scripted",
        "recorded:runs/a",
        "byhand:questions",
        "http://localhost:11434/v1/llama3.1",
        "http://127.0.0.1:8000/v1/m",
        "http://[::1]:8000/v1/m",
        "http://192.168.0.7/v1/m",
        "http://box.local/v1/m",
        "http://host.docker.internal:11434/v1/m",
    ],
)
def test_what_runs_here_is_free(name: str) -> None:
    assert Prices.load().cost_usd(name, 10, None) == 0.0


@each(
    "name",
    [
        "openai:gpt-4o-audio-preview",
        "openai:gpt-9",
        "openai:o3-pro",
        "",
        "gpt-4o",
        "https://llm.example.org/v1/m",
        "https://8.8.8.8/v1/m",
        "http://[::1/v1/m",
        "scriptedly",
        "langchain:x:y",
    ],
)
def test_an_unknown_price_is_none(name: str) -> None:
    assert Prices.load().cost_usd(name, 10, 10) is None


def test_unknown_tokens_cost_an_unknown_sum() -> None:
    assert Prices.load().cost_usd("openai:gpt-4o", None, 10) is None


def test_the_users_file_comes_before_ours(tmp_path: Path, home: Path) -> None:
    write(home / ".config/simcounsel/prices.yaml", "prices:\n  openai:gpt-4o: {in: 1, out: 1}\n")
    assert Prices.load().cost_usd("openai:gpt-4o-2024-11-20", 1_000_000, 0) == 1
    named = write(
        tmp_path / "p.yaml",
        "prices:\n  openai:gpt-4o: {in: 7}\n  http://localhost/v1/m: {in: 3, out: .5}\n",
    )
    prices = Prices.load(named)
    assert prices.cost_usd("openai:gpt-4o", 1_000_000, 9) == 7
    assert prices.cost_usd("http://localhost/v1/m", 1_000_000, 1_000_000) == 3.5
    assert prices.cost_usd("openai:gpt-4.1", 1_000_000, 0) == 2


def test_names_that_stand_for_each_other_come_to_an_end(tmp_path: Path) -> None:
    named = write(tmp_path / "p.yaml", 'same_as: {"a:": "b:", "b:": "a:", "c:": "openai:"}\n')
    assert Prices.load(named).cost_usd("a:x", 1, 1) is None
    assert Prices.load(named).cost_usd("c:gpt-4o", 1_000_000, 0) == 2.5


@each(
    ("text", "problem"),
    [
        ("prices:\n  openai:gpt-4o: {in: -1, out: 1}\n", "p.yaml:2: prices.openai:gpt-4o.in: "),
        ("prices:\n  a: {in: 1}\n  b:\n    out: 1\n", "p.yaml:3: prices.b.in: missing"),
        ("prices:\n  a: {in: 1, outt: 2}\n", "unknown key; did you mean 'out'"),
        ("prices:\n  a: {in: nan}\n", "p.yaml:2: "),
        ("price:\n  a: {in: 1}\n", "p.yaml:1: price: unknown key; did you mean 'prices'"),
        ("- a\n", "p.yaml:1: expected"),
        ("prices: [\n", "not valid YAML"),
        ("", "the file is empty"),
    ],
)
def test_a_bad_file_is_told_by_line(text: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        Prices.load(write(tmp_path / "p.yaml", text))
    assert problem in str(caught.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no such file"):
        Prices.load(tmp_path / "none.yaml")


def test_ours_says_its_date() -> None:
    ours, _ = load_spec(OURS, PriceFile)
    assert ours.as_of and len(ours.prices) >= 25
