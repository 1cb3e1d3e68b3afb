"""`python -m tests.prose`: long sentences and words that tire, in what people read: a list, not a score.

Pages, the help of commands, what the viewer's pages say, and the items of scales. `tests/test_prose.py` holds the words
of the list at none and the long sentences below a number that only falls.
"""

import re
from collections.abc import Iterator

import yaml
from typer.main import get_command

from docs.generating.commands import all_commands
from simcounsel.cli import app
from tests.pages import PAGES
from tests.stage import ROOT

LONGEST = 25
"""Words of a sentence."""
TIRING = {
    "come along": r"\b(?:come|comes|came|coming) along\b",
    "anew": r"\banew\b",
    "of use": r"\bof (?:no )?use\b",
    "mend": r"\bmend(?:s|ed|ing)?\b",
    "lived": r"\b(?:re)?lived\b|\blive through\b|\blives? again\b",
    "stand": r"\bstands? (?:in|at|beside|behind|there|as)\b",
    "so long": r"\bso long (?:the|it|he|she|a)\b",
}
"""What each is found by. Sentences of somebody else (a persona, a transcript) are not looked at."""
_CODE = re.compile(
    r"^```.*?^```|^ {4}.*?$|`[^`]*`|\]\([^)]*\)|<!--.*?-->|^\|.*$|^> .*$", re.M | re.S
)
_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n|\n(?=[-#0-9])")
_SAID = re.compile(r'"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`')


def texts() -> Iterator[tuple[str, str]]:
    """Where, and what people read there."""
    for page, text in PAGES.items():
        if page.startswith(("docs/", "README")):
            yield page, _CODE.sub(" x ", text.replace("```{include}", ""))
    yield "simcounsel --help", get_command(app).help or ""
    for typed, command in all_commands():
        yield f"{typed} --help", command.help or ""
        for one in command.params:
            yield f"{typed} --help", str(getattr(one, "help", "") or "")
    for file in sorted((ROOT / "simcounsel" / "viewer" / "static").glob("*.js")):
        if ".min." not in file.name and file.stat().st_size < 60_000:
            for line in file.read_text(encoding="utf-8").splitlines():
                if not line.lstrip().startswith(("//", "/*", "*")):
                    for one in _SAID.findall(line):
                        yield f"viewer/{file.name}", re.sub(r"\$\{[^}]*\}", "x", one[0] or one[1])
    for file in sorted((ROOT / "simcounsel" / "instruments" / "scales").glob("*.yaml")):
        for item in yaml.safe_load(file.read_text(encoding="utf-8")).get("items", ()):
            yield f"scales/{file.name}", str(item.get("text", "")) if isinstance(item, dict) else ""


def sentences() -> Iterator[tuple[str, str]]:
    """Each with where it is."""
    for where, text in texts():
        for one in _END.split(text):
            words = " ".join(one.split())
            if words:
                yield where, words


def long() -> list[tuple[str, str]]:
    """Those above `LONGEST` words."""
    return [(where, one) for where, one in sentences() if len(one.split()) > LONGEST]


def tiring() -> list[tuple[str, str, str]]:
    """Where, the word of the list, the sentence."""
    return [
        (where, name, one)
        for where, one in sentences()
        for name, found in TIRING.items()
        if re.search(found, one, re.IGNORECASE)
    ]


if __name__ == "__main__":
    for where, name, one in tiring():
        print(f"{where}: {name!r}: {one}")
    for where, one in long():
        print(f"{where}: {len(one.split())} words: {one}")
