"""A rater's page as one file that needs no server: it keeps the answers and hands them over as a
download.
"""

import base64
import hashlib
import json
import re
from pathlib import Path

from simcounsel.studies.study import Rater, Study, write_whole
from simcounsel.viewer.pages import STATIC

_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src '{script_hash}'; style-src '{style_hash}'; \
img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Rating study</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{body}
<script>{script}</script>
</body>
</html>
"""


def write_offline(folder: Path, study: Study) -> list[Path]:
    """One file for each rater, in DIR/offline."""
    files = []
    for rater in study.raters:
        files.append(folder / "offline" / f"{rater.name}.html")
        write_whole(files[-1], offline_page(study, rater))
    return files


def offline_page(study: Study, rater: Rater) -> str:
    """The page with everything in it: one style, one script, both allowed by their hashes and
    nothing else.
    """
    style = "".join(
        (STATIC / name).read_text(encoding="utf-8") for name in ("style.css", "rate.css")
    )
    script = _script(study, rater)
    body = re.search(
        r"<body>\n(.*?)<script", (STATIC / "rate.html").read_text(encoding="utf-8"), re.DOTALL
    )
    assert body is not None
    return PAGE.format(
        style=style,
        style_hash=_hash(style),
        body=body.group(1).strip(),
        script=script,
        script_hash=_hash(script),
    )


def _script(study: Study, rater: Rater) -> str:
    """The modules joined into one closed function, after the study as data in which no tag can end
    the script.
    """
    data = (
        json.dumps(study.shown_to(rater) | {"given": {}})
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
    )
    modules = "\n".join(
        (STATIC / name).read_text(encoding="utf-8")
        for name in ("dom.js", "rateentry.js", "rate.js")
    )
    code = _EXPORT.sub("", _IMPORT.sub("", modules))
    assert "</" not in code and "<!--" not in code, "code that would end its script"
    return f'(() => {{\n"use strict";\nconst STUDY = {data};\n{code}\n}})();\n'


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
