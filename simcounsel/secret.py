"""Keys and passwords: what is one, or looks like one, leaves this process only as `***`.

`scrub` is at every exit: the log, the recording, the manifest, the screen, pages, reports. What
comes from a model is scrubbed before it is used, so that log and recording agree.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import TypeVar
from urllib.parse import quote

HIDDEN = "***"
SHORTEST = 8
"""Shorter keys of the environment are not looked for: they could be words."""
T = TypeVar("T")

_NAMES = re.compile(r"(?:.*_)?(?:API_?KEY|ACCESS_KEY|SECRET(?:_KEY)?|TOKEN|PASSWORD|PASSWD)")
"""Variables of the environment whose values are secrets."""
_PLAIN = re.compile(r"[^\W\d]*|\d*")
_PATTERNS = (
    # as vendors begin them; what words could look like has a digit
    r"(?<![A-Za-z0-9_-])sk-(?=[A-Za-z_-]*\d)[\w-]{16,}",  # OpenAI, Anthropic, DeepSeek, OpenRouter
    r"(?<![A-Za-z0-9_-])[rs]k_(?:live|test)_\w{16,}",
    r"(?<![A-Za-z0-9_-])(?:gsk_|hf_|r8_|xai-|pplx-|gh[oprsu]_)[A-Za-z0-9]{20,}",
    r"(?<![A-Za-z0-9_-])(?:github_pat_|glpat-|nvapi-|xox[abeprs]-|ya29\.)(?=\D{0,99}\d)[\w-]{16,}",
    # so that none is found within base64
    r"(?<![A-Za-z0-9+/])(?:AKIA|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9+/=])",
    r"(?<![A-Za-z0-9+/])AIza[\w-]{35}(?![\w+/=-])",
    r"(?<![A-Za-z0-9+/])eyJ[\w-]{16,1024}+\.eyJ[\w-]{10,}+\.[\w-]*",  # without an end: quadratic
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
    # as they are sent
    r"(?<=[Bb]earer )(?=[A-Za-z.~+/=_-]*\d)[\w.~+/=-]{16,}",
    r"(?<=uthorization: Basic )[\w+/=-]{8,}",
    r"(?:(?<=[?&]api_key=)|(?<=[?&]api-key=)|(?<=[?&]apikey=)|(?<=[?&]apiKey=)"
    r"|(?<=[?&]access_token=)|(?<=[?&]subscription-key=))[^\s&#\"'<>\\]+",
)
"""The time of each grows with the length of a text, not with its square: a server may send 8 MB."""
_ADDRESSES = re.compile(r"(?<=://)[^\s\"'<>\\\x80-\U0010ffff]+")
"""All that belongs to an address, others within it too."""
_TO_PATH = re.compile(r"[^\s/?#\"'<>\\\x80-\U0010ffff]+")
_USER = re.compile(rf"(?!\[){_TO_PATH.pattern}?:(?!\d+(?:[/?#\s]|$))", re.ASCII)
"""What is before a password, which may hold @ and /; a port is none."""
_SHORT_MARKS = ("://", "=", "earer ", "uthorization: Basic ", "PRIVATE KEY", "ya29.")
_MARKS = (
    *("sk-", "k_live_", "k_test_", "gsk_", "hf_", "r8_", "xai-", "pplx-", "glpat-", "nvapi-"),
    *("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_", "xox", "AKIA", "ASIA", "AIza", "eyJ"),
    *_SHORT_MARKS,
)
"""One of these is in whatever the patterns match; one of the short ones, where it has no 19
characters of a key in a row. To look for them costs a tenth of looking for the patterns.
"""
_SHORT_TEXT, _LONG_TEXT = 64, 256
_HASH = re.compile(rb'"[0-9a-f]{32}"')
"""As JSON has the key of a call: no pattern is found within it, and nearly every event names one.
"""
_SHORT_TEXTS = 4096
"""So many are kept."""
_RUN = b"x" * 19
_RUNS = bytes(120 if re.match(rb"[A-Za-z0-9_-]", bytes([at])) else 32 for at in range(256))
"""Each byte that a key may have as `x`, each other one as a blank."""


class _Known:
    """The keys that this process knows."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.marks: tuple[str, ...] = _MARKS
        self.short_marks: tuple[str, ...] = _SHORT_MARKS
        self.pattern = re.compile("|".join(_PATTERNS), re.ASCII)
        self._short: dict[str, str] = {}

    def scrubbed_short(self, text: str) -> str:
        """A short text with each secret hidden: names of people, fields, models and purposes come
        again and again, and are searched once.
        """
        kept = self._short  # `add` replaces it: what another thread finds too late, nobody sees
        try:
            found = kept[text]
        except KeyError:
            held = any(mark in text for mark in self.marks)
            found = self.scrubbed(text) if held else text
            if len(kept) >= _SHORT_TEXTS:
                kept.clear()
            kept[text] = found
        return text if found == text else found

    def scrubbed(self, text: str) -> str:
        """A text with each secret hidden; those of addresses at last, as they may hold others."""
        text = self.pattern.sub(HIDDEN, text)
        parts: list[str] = []
        at = 0
        for start, end in _before_hosts(text):
            parts += text[at:start], HIDDEN
            at = end
        return "".join([*parts, text[at:]]) if parts else text

    def add(self, *keys: str) -> None:
        """Look for these too."""
        new = {key for key in keys if len(key) >= SHORTEST} - self.keys
        if not new:
            return
        self.keys |= new
        written = {
            form
            for key in self.keys
            for form in (key, json.dumps(key)[1:-1], json.dumps(json.dumps(key))[3:-3], quote(key))
        }
        longest_first = sorted(written, key=lambda form: (-len(form), form))
        self.marks = (*longest_first, *_MARKS)
        self.short_marks = (*longest_first, *_SHORT_MARKS)
        self.pattern = re.compile("|".join([*map(re.escape, longest_first), *_PATTERNS]), re.ASCII)
        self._short = {}


_known = _Known()


def remember(key: str) -> None:
    """A key that is used; from now on it is hidden wherever it is."""
    _known.add(key)


def remember_environment(variables: Mapping[str, str] | None = None) -> None:
    """The keys in the environment: the values of variables such as OPENAI_API_KEY or HF_TOKEN, but
    for plain words and numbers, which talk may hold.
    """
    variables = os.environ if variables is None else variables
    for name, value in variables.items():
        if _NAMES.fullmatch(name.upper()) and not _PLAIN.fullmatch(value.strip()):
            _known.add(value.strip())


remember_environment()


def scrub(text: str) -> str:
    """The text with each secret as `***`: the known keys, what is written as vendors write theirs,
    and what is before the host of an address.
    """
    if len(text) <= _SHORT_TEXT:
        return _known.scrubbed_short(text)
    marks = _known.short_marks if len(text) > _LONG_TEXT and not _has_run(text) else _known.marks
    for mark in marks:
        if mark in text:
            return _known.scrubbed(text)
    return text


def spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where in a text the secrets stand that `scrub` would hide (characters, end excluded)."""
    found = [one.span() for one in _known.pattern.finditer(text)]
    return tuple(_joined([*found, *_before_hosts(text)]))


def _joined(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Those that overlap as a single one, in order."""
    begun: tuple[int, int] | None = None
    for start, end in sorted(spans):
        if begun is not None and start < begun[1]:
            begun = begun[0], max(begun[1], end)
            continue
        if begun is not None:
            yield begun
        begun = start, end
    if begun is not None:
        yield begun


def _before_hosts(text: str) -> Iterator[tuple[int, int]]:
    """Where the user name and password of each address stand."""
    if "://" not in text:
        return
    for run in _ADDRESSES.finditer(text):
        start, last = run.start(), text.rfind("@", *run.span())
        while start < last:
            end = _before_host(text, start, last)
            if end is not None:
                yield start, end
            following = text.find("://", end or start, last)
            start = following + len("://") if following >= 0 else last


def _before_host(text: str, start: int, last: int) -> int | None:
    """Where the user name and password end that an address begins with; None when it has none.
    start: of what follows ://. last: the last @ in all that belongs to the address.
    """
    name = _TO_PATH.match(text, start)
    if name is None:
        return None
    at = text.rfind("@", start + 1, name.end())
    if at >= 0:
        return at
    user = _USER.match(text, start)
    return last if user is not None and user.end() < last else None


def _has_run(text: str) -> bool:
    """Whether as many characters of a key are in a row as a key has, hashes left out."""
    raw = text.encode("utf-8", "replace")
    shape = raw.translate(_RUNS)
    at = shape.find(_RUN)
    while at >= 0:
        hashed = _HASH.match(raw, max(0, at - 1))
        if hashed is None:
            return True
        at = shape.find(_RUN, hashed.end())
    return False


def scrub_data(value: T) -> T:
    """Data as JSON has it with each of its texts scrubbed; the same object where nothing is."""
    for text in _texts(value):
        if len(text) >= SHORTEST and scrub(text) != text:
            return _scrubbed(value)
    return value


def _texts(value: object) -> set[str]:
    """Each text of some data, names of fields too, once: many people share most of theirs. By
    levels and not by itself, since this is what the search of a large world takes.
    """
    found: set[str] = set()
    level: list[object] = [value]
    while level:
        below: list[object] = []
        for one in level:
            if isinstance(one, str):
                found.add(one)
            elif isinstance(one, dict):
                below.extend(one)
                below.extend(one.values())
            elif isinstance(one, list | tuple):
                below.extend(one)
        level = below
    return found


def _scrubbed(value: T) -> T:
    """The same data, made again with each of its texts scrubbed."""
    found: object = value
    if isinstance(value, str):
        found = scrub(value) if len(value) >= SHORTEST else value
    elif isinstance(value, dict):
        found = {_scrubbed(key): _scrubbed(one) for key, one in value.items()}
    elif isinstance(value, list | tuple):
        found = type(value)(_scrubbed(one) for one in value)
    return found  # type: ignore[return-value]  # of the same form


MOST_NAME = 2000
"""Characters of a model's name, its address included."""
_REMEDY = "take it out and set the key as SIMCOUNSEL_API_KEY in the environment"
_ADDRESS = re.compile(r"https?:[/\\]{2}\S*", re.IGNORECASE)
_BEFORE_HOST = re.compile(r"[^:]+:[/\\]{2}([^/?#\\]*)@([^/?#\\@]*)")
_PASSWORD_WITH_SLASH = re.compile(r"[^:]+:[/\\]{2}([^/?#\[\]]*:(?!\d+(?:[/?#]|$)).*)@([^@/?#]*)")


def credentials_in(name: str) -> str | None:
    """What is wrong with a model's name whose address holds a password or a key, and what to do;
    None when nothing is. Neither is repeated.
    """
    if len(name) > MOST_NAME:
        return f"the model's name has more than {MOST_NAME:,} characters"
    if (found := _ADDRESS.search(name)) is None:
        hidden = scrub(name)
        return f"the model's name {hidden!r} holds a key; {_REMEDY}" if hidden != name else None
    address = found.group()
    held = _BEFORE_HOST.match(address) or _PASSWORD_WITH_SLASH.match(address)
    if held:
        what, rest = "a user name or password before its host", f"http://{held.group(2)}/..."
    elif "?" in address:
        what, rest = "a query, where keys do not belong", f"{scrub(address.split('?')[0])}?..."
    elif scrub(name) != name:
        what, rest = "a key", scrub(address)
    else:
        return None
    return f"the address {rest} holds {what}; {_REMEDY}"
