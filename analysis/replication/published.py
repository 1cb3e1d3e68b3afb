"""The numbers as they were published."""

from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from simcounsel.packaged import packaged

Name = Literal["simcounsel", "structure_matters", "mindcorpus", "mindchat"]


class PublishedPart(BaseModel):
    """Frozen, and no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Difference(PublishedPart):
    """One way in which the designs differ, or agree."""

    what: str
    published: str
    ours: str
    """With {slots} for what these runs were."""
    people: str | None = None
    """The same where people took part; None: as `ours`."""


class PublishedSetting(PublishedPart):
    """A setting of a world, and what the paper has in its place."""

    key: str
    """In the manifest's world, with dots."""
    what: str
    published: str
    theirs: Any = None
    """The paper's in our terms; None: it has no such thing; '?': it does not say."""
    ours: str = "{value}"
    """In words, with our value."""
    people: bool = False
    """Whether it also holds where people took part."""


class PublishedPair(PublishedPart):
    """Two arms compared."""

    first: str
    second: str
    difference: float
    q: float
    """Tukey's."""
    p: str


class OneClient(PublishedPart):
    """A client of the paper, whose raters were tested by themselves."""

    name: str
    test: str
    """F and its p, as printed."""
    pairs: tuple[PublishedPair, ...]


class PublishedTable(PublishedPart):
    """One table."""

    title: str
    scale: str = ""
    rows: dict[str, dict[str, float | tuple[float, float]]]
    """By row and column: the number, or mean and standard deviation."""
    labels: dict[str, str] = {}
    tests: dict[str, str] = {}
    """By row, in the paper's numbers."""
    pair_tests: dict[str, str] = {}
    """By row, what the paper says of its pairs."""
    pairs: tuple[PublishedPair, ...] = ()
    clients: tuple[OneClient, ...] = ()
    n: dict[str, int] = {}
    """By column: how many people the numbers are of."""
    sd: bool = False
    notes: tuple[str, ...] = ()

    def label(self, row: str) -> str:
        """As a reader sees it."""
        return self.labels.get(row, row.replace("_", " "))


class Published(PublishedPart):
    """A paper."""

    id: str
    title: str
    cite: str
    arms: dict[str, str]
    """By our name of an arm: the paper's."""
    design: tuple[Difference, ...]
    """What was counted in the runs."""
    settings: tuple[PublishedSetting, ...]
    """Every setting of a world that people of the paper could know of."""
    tables: dict[str, PublishedTable]


@cache
def published(name: Name) -> Published:
    """A paper's numbers by its name."""
    return Published.model_validate(packaged("analysis.replication", "published", f"{name}.yaml"))
