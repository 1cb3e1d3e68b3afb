"""What counts as cacheable."""

from simcounsel.runs.calls import Call
from tests.benchmarks.tokens import cacheable


def line(who: str, text: str, purpose: str = "line_client") -> Call:
    message = {"role": "user", "content": text}
    return Call.model_validate(
        {"key": "k", "tick": 0, "who": who, "purpose": purpose, "verb": "write", "model": "m"}
        | {"messages": [message]}
    )


def test_only_a_long_prefix_of_the_same_speakers_last_line_is_cacheable() -> None:
    long, short = "a" * 5000, "a" * 4000
    assert cacheable([line("Ines", long + "b"), line("Ines", long + "c")]) == (5000, 10002)
    assert cacheable([line("Ines", short + "b"), line("Ines", short + "c")]) == (0, 8002)
    assert cacheable([line("Ines", long), line("Ben", long)]) == (0, 10000)
    assert cacheable([line("Ines", long, "appraise")]) == (0, 0)
