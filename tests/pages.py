"""What people read, README.md and docs/, and the blocks and commands in it, for tests that run them."""

import re
from typing import NamedTuple

from tests.stage import ROOT

PAGES = {
    str(file.relative_to(ROOT)): file.read_text(encoding="utf-8")
    for file in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    if "reference" not in file.parts  # made out of the code when the site is built
}
"""The text of each page by its path from the top."""
TEXT = "\n".join(PAGES.values())
"""All pages at once."""


class Block(NamedTuple):
    """A fenced block."""

    page: str
    language: str
    """Empty where none is named, as for commands."""
    text: str


BLOCKS = [
    Block(page, *found)
    for page, text in PAGES.items()
    for found in re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
]


def blocks(language: str) -> list[Block]:
    """All blocks in a language, in the pages' order."""
    return [block for block in BLOCKS if block.language == language]


def commands(train: bool = False) -> dict[str, list[str]]:
    """What the pages type in their blocks that begins with `simcounsel`, by page, each on the first
    page that types it. train: those of `simcounsel train`, on each page, in place of all others.
    """
    seen = set[str]()
    by_page: dict[str, list[str]] = {}
    for block in blocks(""):
        for line in block.text.splitlines():
            command = re.split(r"\s#", line)[0].strip()
            trains = command.startswith("simcounsel train ")
            wanted = trains if train else command.startswith("simcounsel ") and not trains
            if wanted and command not in seen:
                seen |= set() if train else {command}
                by_page.setdefault(block.page, []).append(command)
    return by_page


def mentioned() -> list[tuple[str, str]]:
    """What stands between backticks in a page's prose and begins with `simcounsel`: page, command."""
    return [
        (page, command)
        for page, text in PAGES.items()
        for command in re.findall(r"`(simcounsel [a-z][^`\n]*)`", text)
    ]
