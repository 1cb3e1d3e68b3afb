"""One run of each client and arm told in short: two excerpts, the persona before and after, how
close they grew.

Which run is told is fixed by rule, so that nobody picks the best: the lowest seed, then the first
by name.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from analysis.sample import Member, Sample
from simcounsel.clock import day_of, time_text
from simcounsel.specs.world import ROLES_OF

LINES = 6
AS_IT_BEGINS = "as the world begins"


@dataclass(frozen=True, kw_only=True)
class StoryLine:
    """Said by whom, what, and how it came about (generated, chosen, fallback, human)."""

    who: str
    text: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """Part of a conversation."""

    title: str
    """Which, with whom, when, which lines."""
    lines: tuple[StoryLine, ...]


@dataclass(frozen=True, kw_only=True)
class StoryPortrait:
    """A version of a persona's changing texts."""

    version: int
    when: str
    characteristic: str
    recent_feeling: str


@dataclass(frozen=True, kw_only=True)
class Story:
    """A client in one run."""

    client: str
    arm: str
    run: str
    before: StoryPortrait | None
    """`before`, `after`: None when the log has no persona; after is None when it never changed."""
    after: StoryPortrait | None
    excerpts: tuple[Excerpt, ...]
    closeness: tuple[tuple[str, float, float], ...]
    """By partner, at the start and at the end, 0 to 10."""


def tell(
    sample: Sample, talk: pd.DataFrame, personas: pd.DataFrame, relations: pd.DataFrame, most: int
) -> tuple[list[Story], int]:
    """At most `most` stories, by client and arm, and how many were left out."""
    chosen = list(_chosen(sample))
    return [
        _story(member, client, talk, personas, relations) for client, member in chosen[:most]
    ], max(0, len(chosen) - most)


def _chosen(sample: Sample) -> Iterator[tuple[str, Member]]:
    clients = sorted({client for member in sample.members for client in member.clients})
    for client in clients:
        for arm in sample.arms:
            lived = [member for member in sample.of(arm) if client in member.clients]
            if lived:
                yield (
                    client,
                    min(
                        lived,
                        key=lambda member: (
                            member.seed if member.seed is not None else 0,
                            member.name,
                        ),
                    ),
                )


def _story(
    member: Member, client: str, talk: pd.DataFrame, personas: pd.DataFrame, relations: pd.DataFrame
) -> Story:
    versions = personas[(personas["run"] == member.name) & (personas["who"] == client)].sort_values(
        "version"
    )
    lines = talk[
        (talk["run"] == member.name) & ((talk["speaker"] == client) | (talk["other"] == client))
    ]
    portraits = (
        [_portrait(row) for row in versions.iloc[[0, -1]].itertuples()] if len(versions) else []
    )
    return Story(
        client=client,
        arm=member.arm,
        run=member.name,
        before=portraits[0] if portraits else None,
        after=portraits[1] if len(versions) > 1 else None,
        excerpts=tuple(_excerpts(lines, client)),
        closeness=tuple(_closeness(relations, member, client)),
    )


def _portrait(row: object) -> StoryPortrait:
    return StoryPortrait(
        version=int(row.version),  # type: ignore[attr-defined]
        when=_when(int(row.minute)),  # type: ignore[attr-defined]
        characteristic=str(row.characteristic),  # type: ignore[attr-defined]
        recent_feeling=str(row.recent_feeling),  # type: ignore[attr-defined]
    )


def _when(minute: int) -> str:
    return f"day {day_of(minute) + 1}, {time_text(minute)}"


def _excerpts(lines: pd.DataFrame, client: str) -> Iterator[Excerpt]:
    """The first lines of the first conversation and the last lines of the last; of a single one
    both, as far as they do not overlap.
    """
    chats = [
        chat
        for _, chat in sorted(
            {(int(m), str(c)) for m, c in zip(lines["minute"], lines["chat"], strict=True)}
        )
    ]
    if not chats:
        return
    first, last = (
        lines[lines["chat"] == chat].sort_values("message") for chat in (chats[0], chats[-1])
    )
    yield _excerpt(first.head(LINES), client, "First conversation", len(first))
    rest = last.iloc[LINES:] if chats[0] == chats[-1] else last
    if len(rest):
        yield _excerpt(
            rest.tail(LINES),
            client,
            "Last conversation" if len(chats) > 1 else "The same conversation",
            len(last),
        )


def _excerpt(lines: pd.DataFrame, client: str, title: str, of: int) -> Excerpt:
    head = lines.iloc[0]
    partner = head["other"] if head["speaker"] == client else head["speaker"]
    role = head["other_role"] if head["speaker"] == client else head["role"]
    span = f"lines {int(head['message'])} to {int(lines.iloc[-1]['message'])} of {of}"
    return Excerpt(
        title=f"{title}, with {partner} ({role}), {_when(int(head['minute']))}, {span}",
        lines=tuple(
            StoryLine(
                who=str(row.speaker), text=" ".join(str(row.text).split()), source=str(row.source)
            )
            for row in lines.itertuples()
        ),
    )


def met(relations: pd.DataFrame) -> "pd.Series[bool]":
    """Which rows are about somebody who lives in that run's world under its condition, so that the
    two could meet.
    """
    return pd.Series(
        [
            role in ROLES_OF.get(condition, ())
            for condition, role in zip(relations["condition"], relations["other_role"], strict=True)
        ],
        index=relations.index,
        dtype=bool,
    )


def _closeness(
    relations: pd.DataFrame, member: Member, client: str
) -> Iterator[tuple[str, float, float]]:
    own = relations[
        (relations["run"] == member.name) & (relations["who"] == client) & met(relations)
    ].sort_values("tick", kind="stable")
    for other, rows in own.groupby("other", observed=True):
        start = rows["after"] if rows["why"].iloc[0] == AS_IT_BEGINS else rows["before"]
        yield str(other), float(start.iloc[0]), float(rows["after"].iloc[-1])
