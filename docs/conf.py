"""How the pages become a site: `python -m sphinx -W docs site`, without a network."""

import re
import shlex
import sys
from pathlib import Path

project = "simcounsel"
copyright = "the simcounsel authors, Apache-2.0"
html_title = "simcounsel"
extensions = ["myst_parser", "sphinxcontrib.mermaid"]
nitpicky = True

myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]
highlight_language = "none"
smartquotes = False  # two hyphens begin an option

# Drawn when the site is built: a page loads no script from elsewhere, and a picture with a mistake
# in it fails the build.
mermaid_cmd = f"{shlex.quote(sys.executable)} -m mermaidx"
mermaid_output_format = "svg"
mermaid_params = ["-t", "neutral"]

html_theme = "furo"
exclude_patterns = ["generating", "_build"]
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False

LINK = re.compile(r"\]\((?!\w+:|#|<)([^)\s]+)\)")


INCLUDED = ("architecture", "changelog", "contributing", "security")
"""Pages of the top level that are pages here too."""


def from_docs(target: str) -> str:
    """The address of a file, as README.md and ARCHITECTURE.md name it, seen from here."""
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    file, _, anchor = target.partition("#")
    beside = {f"{name.upper()}.md": f"{name}.md" for name in INCLUDED} | {"README.md": "index.md"}
    page = beside.get(file, f"../{file}")
    return f"{page}#{anchor}" if anchor else page


def point_from_here(app: object, path: Path, parent: str, content: list[str]) -> None:
    """Pages of the top level are included as they are; their links lead from the top level."""
    content[0] = LINK.sub(lambda link: f"]({from_docs(link[1])})", content[0])


def generate(app: object) -> None:
    """The pages of the reference, out of the code."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from docs.generating import write

    write(Path(__file__).parent / "reference")


def for_everybody(
    app: object, name: str, template: str, context: dict[str, str], tree: object
) -> None:
    """What the theme leaves out for screen readers and keyboards: levels of the sidebar's headings,
    code and tables that scroll by keys, a name for each diagram."""
    context["furo_navigation_tree"] = context.get("furo_navigation_tree", "").replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )
    context["body"] = (
        context.get("body", "")
        .replace("<pre>", '<pre tabindex="0">')
        .replace('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')
        .replace("<object data=", '<object aria-label="Diagram" data=')
    )


def setup(app: object) -> None:
    """Sphinx calls this."""
    app.connect("builder-inited", generate)  # type: ignore[attr-defined]
    app.connect("include-read", point_from_here)  # type: ignore[attr-defined]
    app.connect("html-page-context", for_everybody, priority=900)  # type: ignore[attr-defined]
