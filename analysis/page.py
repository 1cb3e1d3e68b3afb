"""What pages of all kinds are made with: numbers as text, templates, tables as CSV, files that are
whole or not there.
"""

import base64
import platform
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis.errors import ReportError
from analysis.style import JOURNAL_MM, Look, Picture
from simcounsel.disk import no_formula, write_data, write_text, write_whole
from simcounsel.instruments.clinicians import clinicians_said
from simcounsel.terminal import visible

LIBRARIES = (
    "simcounsel",
    "numpy",
    "pandas",
    "scipy",
    "statsmodels",
    "pingouin",
    "scikit-learn",
    "krippendorff",
    "matplotlib",
    "vaderSentiment",
)
LOOKS = {
    "wide": Look(),
    "dark": Look(dark=True),
    "narrow": Look(wide=False),
    "narrow_dark": Look(wide=False, dark=True),
}
any_text = pd.option_context("mode.string_storage", "python")
"""Decorates what makes tables: pandas keeps texts in Arrow where pyarrow is installed, and Arrow
refuses half characters, which models do write.
"""
_NOWHERE = re.compile(r"[\ud800-\udfff\ufffe\uffff]")
"""Characters that no page can hold."""
_MARKED = re.compile(r"([\\`*_{}\[\]<>#|~])")


def page_in(out: Path) -> Path:
    """Where a page goes: a folder's report.html, or the page's own path."""
    return out if out.suffix.lower() in (".html", ".htm") else out / "report.html"


def write_page(
    page: Path,
    template: str,
    context: Mapping[str, Any],
    pictures: Mapping[str, Picture],
    tables: Mapping[str, pd.DataFrame],
    *,
    pdf: bool = False,
) -> Path:
    """Write a page from TEMPLATE.html.j2, the same as Markdown where there is TEMPLATE.md.j2, and
    beside it figures/ and tables/; those of an earlier page go. Returns the page's path. pdf: each
    figure at the widths of a journal, too. ReportError when something cannot be written.
    """
    style = files("analysis").joinpath("templates", "report.css")
    every: dict[str, Any] = {
        "pictures": pictures,
        "looks": LOOKS,
        "versions": versions(),
        "when": f"{datetime.now():%Y-%m-%d %H:%M}",
        "css": style.read_text(encoding="utf-8"),
    }
    texts = {}
    for form, file in ((".html", page), (".md", page.with_suffix(".md"))):
        made = environment(html=form == ".html")
        if (name := f"{template}{form}.j2") in made.list_templates():
            texts[file] = made.get_template(name).render(every | dict(context))
    try:
        _write_figures(pictures.values(), page.parent / "figures", pdf=pdf)
        write_tables(tables, page.parent / "tables")
        for file, text in texts.items():
            write_whole(file, text)
    except OSError as error:
        raise ReportError(
            f"{error.filename or page}: cannot be written ({error.strerror}); choose another --out"
        ) from None
    return page


def _write_figures(pictures: Iterable[Picture], folder: Path, *, pdf: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for stale in (one for form in ("svg", "png", "pdf") for one in folder.glob(f"*.{form}")):
        stale.unlink()
    for one in pictures:
        write_text(folder / f"{one.id}.svg", one.svg[Look()].decode())
        if one.png is not None:
            write_data(folder / f"{one.id}.png", one.png)
        for mm in JOURNAL_MM if pdf else ():
            write_data(folder / f"{one.id}_{mm:.0f}mm.pdf", one.pdf(mm))


def write_tables(tables: Mapping[str, pd.DataFrame], out: Path) -> None:
    """Each as NAME.csv; an empty field is a missing value, and no text begins like a formula. CSVs
    of an earlier report go.
    """
    out.mkdir(parents=True, exist_ok=True)
    for stale in out.glob("*.csv"):
        stale.unlink()
    for name, table in tables.items():
        write_whole(out / f"{name}.csv", csv_of(table))


def csv_of(table: pd.DataFrame) -> str:
    """A table as CSV; an empty field is a missing value, and no text begins like a formula."""
    texts = [
        column
        for column in table
        if not pd.api.types.is_numeric_dtype(table[column])
        and not pd.api.types.is_bool_dtype(table[column])
    ]
    tamed = table.assign(
        **{str(column): table[column].map(no_formula, na_action="ignore") for column in texts}
    ).rename(columns=no_formula)
    return str(tamed.to_csv(index=False, lineterminator="\n"))


def command_line() -> str:
    """What was typed, ready to be typed again."""
    program = Path(sys.argv[0]).name
    spec = sys.modules["__main__"].__spec__
    if program == "__main__.py" and spec is not None and spec.parent:
        return shlex.join(["python", "-m", spec.parent, *sys.argv[1:]])
    return shlex.join([program, *sys.argv[1:]])


def environment(*, html: bool) -> Environment:
    """Of our templates. autoescape for HTML; for Markdown every text goes through `marked`.
    Characters that no page can hold are left out of both; controls, also of the direction of text,
    are made visible.
    """
    made = Environment(
        loader=PackageLoader("analysis"),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(_NOWHERE.sub("", value)) if type(value) is str else value,
    )
    made.filters |= {
        "counted": counted,
        "num": num,
        "fixed": fixed,
        "signed": signed,
        "p": p_text,
        "interval": interval,
        "percent": percent,
        "marked": marked,
        "plain": plain,
        "uri": uri,
        "usd": usd,
    }
    made.globals["clinicians_said"] = clinicians_said
    return made


# numbers as text


def num(value: float | None, digits: int = 3) -> str:
    """With `digits` significant digits; '–' for None."""
    if value is None or value != value:
        return "–"
    if abs(value) < 1e-12:
        return "0"
    text = f"{value:.{digits}g}"
    return (f"{value:.0f}" if "e+" in text else text).replace("-", "−")


def fixed(value: float | None, digits: int = 2) -> str:
    """With `digits` decimals; '–' for None."""
    return "–" if value is None or value != value else f"{value:.{digits}f}".replace("-", "−")


def signed(value: float | None, digits: int = 2) -> str:
    """With its sign; '–' for None."""
    return "–" if value is None or value != value else f"{value:+.{digits}f}".replace("-", "−")


def p_text(value: float | None) -> str:
    """A p value: three decimals, '< .001' below that."""
    if value is None or value != value:
        return "–"
    return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def interval(low: float | None, high: float | None) -> str:
    """'[low, high]', or '–'."""
    return (
        "–"
        if low is None or high is None or low != low or high != high
        else f"[{num(low)}, {num(high)}]"
    )


def percent(value: float | None) -> str:
    """A share as per cent."""
    return "–" if value is None or value != value else f"{100 * value:.1f}%".replace("-", "−")


def usd(value: float | None) -> str:
    """Money; unknown is said, never zero."""
    return "unknown" if value is None or value != value else f"{value:.4f} USD"


def marked(text: object) -> str:
    """Text in which Markdown and HTML mean nothing, on one line."""
    return _MARKED.sub(r"\\\1", " ".join(str(text).split()).replace("&", "&amp;"))


def plain(name: object) -> str:
    """A name as words."""
    return str(name).replace("_", " ")


def uri(svg: bytes) -> str:
    """An image as a data URI."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


def records(table: pd.DataFrame | None) -> list[dict[str, Any]]:
    """Rows as dictionaries, None for what is missing."""
    if table is None or not len(table):
        return []
    return [
        {str(key): None if value is None or value != value else value for key, value in row.items()}
        for row in table.to_dict("records")
    ]


def counted(number: int, one: str, many: str | None = None) -> str:
    """'1 client', '2 clients'."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


# beside the numbers


def versions() -> list[tuple[str, str]]:
    """Python and the libraries that numbers came from, with their versions."""
    found = [("Python", platform.python_version())]
    for name in LIBRARIES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found
