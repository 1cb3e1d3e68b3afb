"""Distributions that a test makes: a folder with a package and the entry points it registers."""

from collections.abc import Mapping
from pathlib import Path


def distribution(
    folder: Path, name: str, points: Mapping[str, Mapping[str, str]], **modules: str
) -> None:
    """Lay an installed distribution into a folder of the path. points: entry points by group, each
    `package.module:name` by name. modules: their text by name.
    """
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{n} = {value}\n" for n, value in own.items())
            for group, own in points.items()
        )
    )
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)
