"""Pages of the reference that are made of the code when the site is built, so that they cannot fall behind it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from docs.generating.api import api
from docs.generating.commands import commands
from docs.generating.course_formats import course_formats
from docs.generating.events import events
from docs.generating.files import files
from docs.generating.outcomes import outcomes
from docs.generating.scales import scales

INDEX = """# Reference

Made out of the code when the site is built.

```{toctree}
:maxdepth: 1

commands
files
events
scales
api
outcomes
course-formats
```
"""
PAGES: Mapping[str, Callable[[], str]] = {
    "index": lambda: INDEX,
    "commands": commands,
    "files": files,
    "events": events,
    "scales": scales,
    "api": api,
    "outcomes": outcomes,
    "course-formats": course_formats,
}
"""The text of each page, by its name."""


def write(folder: Path) -> None:
    """All of them into a folder; a file whose text is the same is left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in PAGES.items():
        file, made = folder / f"{name}.md", text().rstrip() + "\n"
        if not file.is_file() or file.read_text(encoding="utf-8") != made:
            file.write_text(made, encoding="utf-8")
