"""What tests of a safety study share."""

from collections.abc import Iterator

import pytest

from simcounsel.bots.scan import scanners
from simcounsel.texts import sentences
from simcounsel.texts.quotes import content


class SharedWords:
    """In place of what was learned: a line takes up what was said where it has a telling word of it and asks nothing."""

    def marks_of(self, line: str, language: str, before: str, ruled: object) -> frozenset[str]:
        told = content(before)
        parts = [one for one in sentences.marked(line) if not sentences.ends_asking(one)]
        return frozenset({"takes_up"} if any(told & content(one) for one in parts) else ())


@pytest.fixture
def by_rules_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lines are read by rules and shared words alone, for tests of what follows from the reading."""
    monkeypatch.setattr(scanners, "learned", lambda language: SharedWords())
    scanners.marks_of.cache_clear()
    yield
    scanners.marks_of.cache_clear()
