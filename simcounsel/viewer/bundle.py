"""One file that holds a run and the pages to look at it: to be mailed, and opened without a server
or network.
"""

import base64
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

from simcounsel.disk import write_whole
from simcounsel.errors import RunError
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.secret import scrub
from simcounsel.terminal import visible
from simcounsel.viewer.pages import page_of, static_files

PROMPTS_MOST = 24_000_000
"""With more characters of prompts and replies than this they are left out; the file says so."""
_IMPORT = re.compile(r'^import \{ (.+?) \} from "\./([a-z]+)\.js";$', re.MULTILINE)
_WHOLE = re.compile(r'^import "\./([a-z0-9.]+)\.js";$', re.MULTILINE)
"""A library that is no module: it leaves its name behind for all."""
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const) (\w+))", re.MULTILINE)
_LEFT_OUT = {"interview": "mountInterview"}
"""Modules that need a server, and what they export: in the file they do nothing."""


def write_bundle(log: Log, file: Path) -> list[str]:
    """Write the run as one HTML file; what was left out, in words. RunError when it cannot be
    written.
    """
    log.refresh()
    shown = page_of(log)
    data, left_out = shown.everything(History(log), PROMPTS_MOST)
    kind = shown.name
    script, known = _script(kind), static_files()
    style = "\n".join(
        known[name].read_text(encoding="utf-8")
        for name in ("style.css", "palette.css", f"{kind}.css")
    )
    policy = (
        f"default-src 'none'; script-src {_hashed(script)}; style-src {_hashed(style)}; img-src"
        " data:; base-uri 'none'; form-action 'none'"
    )
    about = log.manifest.get(log.kind.about) or {}
    title = html.escape(visible(str(about.get("name") or log.name)))
    page = "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}: simcounsel</title>",
            f"<style>{style}</style>",
            "</head>",
            f'<body class="{kind}">',
            '<a class="skip" href="#panel">Skip to the panel</a>',
            '<header id="head"></header>',
            '<main id="main"><p class="page soft" id="wait">Reading the run …</p></main>',
            '<div id="live" class="hidden" aria-live="polite"></div>',
            f'<script type="application/json" id="data">{_as_json(data)}</script>',
            f'<script type="module">{script}</script>',
            "</body>",
            "</html>",
            "",
        ]
    )
    try:
        write_whole(file, page)
    except OSError as error:
        raise RunError(f"{file}: cannot be written ({error.strerror}); name another file") from None
    return left_out


def _as_json(data: dict[str, Any]) -> str:
    """JSON in which nothing can end the script element that holds it."""
    text = scrub(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _script(entry: str) -> str:
    """The modules that `entry` needs as one script: each in a function of its own, in the order of
    its imports.
    """
    done: dict[str, str] = {}
    _gather(entry, done, static_files())
    return "\n".join(done.values())


def _gather(name: str, done: dict[str, str], known: dict[str, Path]) -> None:
    if name in done:
        return
    if name in _LEFT_OUT:
        done[name] = (
            f"const from_{name} = {{ {_LEFT_OUT[name]}() {{ return {{ update() {{}} }}; }} }};"
        )
        return
    source = known[f"{name}.js"].read_text(encoding="utf-8")
    for other in _WHOLE.findall(source):
        done[other] = known[f"{other}.js"].read_text(encoding="utf-8")
    for _, other in _IMPORT.findall(source):
        _gather(other, done, known)
    names = _EXPORT.findall(source)
    inner = _IMPORT.sub(lambda m: f"const {{ {m.group(1)} }} = from_{m.group(2)};", source)
    inner = _WHOLE.sub("", inner)
    inner = _EXPORT.sub("", inner)
    done[name] = f"const from_{name} = (() => {{\n{inner}\nreturn {{ {', '.join(names)} }};\n}})();"
