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


def commands(program: str, *, once: bool = True) -> dict[str, list[str]]:
    """What the pages type that begins with `python -m PROGRAM`, in a block or between backticks, by page.

    once: only on the first page that types it.
    """
    start, seen = f"python -m {program} ", set[str]()
    by_page: dict[str, list[str]] = {}
    for page, text in PAGES.items():
        in_blocks = [line for b in blocks("") if b.page == page for line in b.text.splitlines()]
        for line in [*in_blocks, *re.findall(r"`(python -m [^`\n]*)`", text)]:
            command = line.split("#")[0].strip()
            if command.startswith(start) and command not in seen:
                seen |= {command} if once else set()
                by_page.setdefault(page, []).append(command)
    return by_page
