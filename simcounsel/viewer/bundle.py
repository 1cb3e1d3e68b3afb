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

from simcounsel.errors import RunError
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.secret import scrub
from simcounsel.terminal import visible
from simcounsel.viewer import parts, people, requests, syntheses
from simcounsel.viewer.routes import STATIC

PROMPTS_MOST = 24_000_000
"""With more characters of prompts and replies than this they are left out; the file says so."""
_IMPORT = re.compile(r'^import \{ (.+?) \} from "\./([a-z]+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const) (\w+))", re.MULTILINE)
_LEFT_OUT = {"interview": "mountInterview", "turn": "mountTurn"}
"""Modules that need a server, and what they export: in the file they do nothing."""


def write_bundle(log: Log, file: Path) -> list[str]:
    """Write the run as one HTML file; what was left out, in words. RunError when it cannot be
    written.
    """
    log.refresh()
    synthesis, history = log.is_synthesis, History(log)
    data, left_out = syntheses.everything(history, PROMPTS_MOST) if synthesis else _data(history)
    kind = "sessions" if synthesis else "run"
    script = _script(kind)
    style = "\n".join(
        (STATIC / name).read_text(encoding="utf-8") for name in ("style.css", f"{kind}.css")
    )
    policy = (
        f"default-src 'none'; script-src {_hashed(script)}; style-src {_hashed(style)}; img-src"
        " data:; base-uri 'none'; form-action 'none'"
    )
    about = log.manifest.get("world") or log.manifest.get("synthesis") or {}
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
    part = file.with_name(file.name + ".part")
    try:
        part.write_bytes(page.encode("utf-8", "replace"))
        part.replace(file)
    except OSError as error:
        raise RunError(f"{file}: cannot be written ({error.strerror}); name another file") from None
    return left_out


def _data(history: History) -> tuple[dict[str, Any], list[str]]:
    """Every answer that the page could ask the site for, by the path it asks with."""
    overview = parts.overview(history)
    data: dict[str, Any] = {"warnings": people.warnings(history)}
    for who in overview["tracks"]:
        data[f"person/{who}"] = people.person(history, who)
        data[f"memories/{who}"] = people.memories(history, who)
        data[f"recalls/{who}"] = people.recalls(history, who)
    for talk in overview["talks"]:
        data[f"conversation/{talk['chat']}"] = parts.conversation(history, talk["chat"])
    left_out = (
        []
        if _add_calls(history, data)
        else ["the prompts and replies, which are too many for one file"]
    )
    return data | {"overview": overview | {"human": False}}, left_out


def _add_calls(history: History, data: dict[str, Any]) -> bool:
    """Prompts and replies of every tick, and which of them stand behind each line; False when they
    are too many.
    """
    found: dict[str, Any] = {}
    size = 0
    for tick in range(history.log.ticks):
        calls = [call for call in history.calls(tick) if not call.embeds]
        size += sum(call.characters for call in calls)
        if size > PROMPTS_MOST:
            return False
        found[f"calls/{tick}"] = [requests.request(call) for call in calls]
        for entry in history.log.entries(("said",), since_tick=tick, until_tick=tick + 1):
            found[f"behind/{entry.seq}?tick={tick}"] = requests.behind(history, entry)
    data |= found
    return True


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
    _gather(entry, done)
    return "\n".join(done.values())


def _gather(name: str, done: dict[str, str]) -> None:
    if name in done:
        return
    if name in _LEFT_OUT:
        done[name] = (
            f"const from_{name} = {{ {_LEFT_OUT[name]}() {{ return {{ update() {{}} }}; }} }};"
        )
        return
    source = (STATIC / f"{name}.js").read_text(encoding="utf-8")
    for _, other in _IMPORT.findall(source):
        _gather(other, done)
    names = _EXPORT.findall(source)
    inner = _IMPORT.sub(lambda m: f"const {{ {m.group(1)} }} = from_{m.group(2)};", source)
    inner = _EXPORT.sub("", inner)
    done[name] = f"const from_{name} = (() => {{\n{inner}\nreturn {{ {', '.join(names)} }};\n}})();"
