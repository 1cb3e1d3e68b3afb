"""A study's items for other platforms: a jsPsych experiment, and a text that Qualtrics imports.

Blind as the study itself: nothing of key.json is read. What neither carries: the raters' own links
and orders (each platform draws its own), the example with its feedback, and how long an item was in
sight other than by the platform's clock.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from simcounsel.studies.answers import facts_of
from simcounsel.studies.entry import ATTENTION, CHECK_POINTS, CONSENT
from simcounsel.studies.instrument import RatingItem
from simcounsel.studies.study import Shown, Study, open_study, write_whole
from simcounsel.studies.study_parts import Line, Passage, Version

CANNOT_SAY = "cannot say"
NOT_SAID = "I would rather not say"
AGREE, DECLINE = "I agree to take part", "I do not take part"
PARTS = {
    "background": "Background",
    "characteristic": "Character",
    "recent_feeling": "Recent feeling",
}
JSPSYCH = files("simcounsel.studies") / "jspsych"
"""The page, and the scripts and the style that are written into it, as npm has them."""


def jspsych(study: Study) -> str:
    """One page that runs the study with jsPsych, items in random order; data columns `item` and
    `response` (by question, from 0).
    """
    entry: list[dict[str, Any]] = []
    if study.instrument.consent:
        text = _paragraphs(study.instrument.consent)
        entry.append(_buttons(text, (AGREE, DECLINE), CONSENT))
    entry += [
        _buttons(f"<p>{escape(fact.text)}</p>", (*fact.choices, NOT_SAID), fact.id)
        for fact in facts_of(study)
    ]
    entry.append(_buttons(_paragraphs(study.instrument.instructions), ("Begin",), "instructions"))
    items = [
        {
            "type": "likert",
            "preamble": _html(study, shown),
            "questions": [
                {"prompt": escape(text), "name": name, "required": True}
                | {"labels": [escape(label) for label in labels]}
                for name, text, labels in _questions(study, shown)
            ],
            "data": {"item": shown.id},
        }
        for shown in study.items
    ]
    data = {"study": study.study, "entry": entry, "items": items}
    filled = {
        "TITLE": escape(study.instrument.title),
        "JSPSYCH": _carried("jspsych.min.js"),
        "LIKERT": _carried("likert.min.js"),
        "BUTTONS": _carried("buttons.min.js"),
        "STYLE": _carried("jspsych.css"),
        "STUDY": _inert(data),
    }
    page = (JSPSYCH / "page.html").read_text(encoding="utf-8")
    return re.sub(r"__([A-Z]+)__", lambda at: filled[at[1]], page)


def _carried(name: str) -> str:
    """A script or a style without the address at which a browser would look for its source."""
    text = (JSPSYCH / name).read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if "sourceMappingURL" not in line)


def qualtrics(study: Study) -> str:
    """The study in Qualtrics' Advanced Format, to be imported as a TXT file: a block for each item.
    Turn on the blocks' random order in the survey flow, and end the survey on a declined consent
    there: the format carries neither.
    """
    parts = ["[[AdvancedFormat]]", "[[Block:Entry]]"]
    if study.instrument.consent:
        parts.append(_choice(CONSENT, _paragraphs(study.instrument.consent), (AGREE, DECLINE)))
    parts += [
        _choice(fact.id, escape(fact.text), (*fact.choices, NOT_SAID)) for fact in facts_of(study)
    ]
    parts.append(_text("instructions", _paragraphs(study.instrument.instructions)))
    for shown in study.items:
        parts += [f"[[Block:{shown.id}]]", _text(f"{shown.id}_text", _html(study, shown))]
        parts += [
            _choice(f"{shown.id}_{name}", escape(text), labels)
            for name, text, labels in _questions(study, shown)
        ]
    return "\n\n".join(parts) + "\n"


def _questions(study: Study, shown: Shown) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Id, text and the labels of the answers, lowest first; where a check of attention is in
    the first rater's study it is here.
    """
    items = study.instrument.items
    half = (len(items) + 1) // 2
    for number, item in enumerate(items):
        if number == half:
            yield from _check(study, shown)
        yield (
            item.id,
            item.text,
            (*_labels(item), *([CANNOT_SAY] if study.instrument.may_skip else [])),
        )
    if half >= len(items):
        yield from _check(study, shown)


def _check(study: Study, shown: Shown) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    wanted = study.raters[0].checks.get(shown.id)
    if wanted:
        text = f"Please choose {wanted} here. It shows that this page is read."
        yield ATTENTION, text, tuple(str(point + 1) for point in range(CHECK_POINTS))


def _labels(item: RatingItem) -> tuple[str, ...]:
    between = [str(point) for point in range(2, item.points)]
    return (f"1 {item.low}", *between, f"{item.points} {item.high}")


def _html(study: Study, shown: Shown) -> str:
    """What there is to see of an item, as HTML in which all text is text."""
    parts: list[str] = []
    if shown.sheet:
        parts += [_heading(f"Who {study.instrument.person} is said to be"), _passages(shown.sheet)]
        parts += [_heading("What was done on that day"), _passages(shown.did)]
    if shown.texts:
        names = ("Before", "After") if study.instrument.order == "told" else ("Text 1", "Text 2")
        for name, version in zip(names, shown.texts, strict=True):
            parts += [_heading(name), _version(version)]
    if shown.lines:
        parts.append(_lines(shown.lines))
    if shown.mood:
        parts.append(f"<p><i>{escape(shown.mood)}</i></p>")
    for number, recall in enumerate(shown.recalls, 1):
        listed = "".join(f"<li>{escape(text)}</li>" for text in recall)
        parts.append(f"{_heading(f'Recall {number}')}<ul>{listed}</ul>")
    return f'<div style="text-align: left; max-width: 44em; margin: 0 auto">{"".join(parts)}</div>'


def _heading(text: str) -> str:
    return f"<h3>{escape(text)}</h3>"


def _lines(lines: Iterable[Line]) -> str:
    return "".join(f"<p><b>{escape(one.speaker)}:</b> {escape(one.text)}</p>" for one in lines)


def _passages(passages: Iterable[Passage]) -> str:
    return "".join(f"<p><b>{escape(one.heading)}</b> {escape(one.text)}</p>" for one in passages)


def _version(version: Version) -> str:
    return "".join(
        f"<p><b>{name}:</b> {escape(getattr(version, key))}</p>" for key, name in PARTS.items()
    )


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{escape(' '.join(part.split()))}</p>" for part in text.split("\n\n"))


def _buttons(stimulus: str, choices: Sequence[str], question: str) -> dict[str, Any]:
    shown = [escape(choice) for choice in choices]
    about = {"question": question}
    return {"type": "buttons", "stimulus": stimulus, "choices": shown, "data": about}


def _inert(data: Any) -> str:
    """JSON in which nothing can end the script that holds it."""
    text = json.dumps(data, ensure_ascii=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _text(name: str, html: str) -> str:
    return f"[[Question:DB]]\n[[ID:{name}]]\n{_one_line(html)}"


def _choice(name: str, html: str, labels: Iterable[str]) -> str:
    listed = "\n".join(_one_line(escape(label)) for label in labels)
    head = f"[[Question:MC:SingleAnswer:Horizontal]]\n[[ID:{name}]]\n{_one_line(html)}"
    return f"{head}\n[[Choices]]\n{listed}"


def _one_line(html: str) -> str:
    """Without line ends, which would begin something new, and without the format's own marks."""
    return " ".join(html.split()).replace("[[", "[\u200b[").replace("]]", "]\u200b]")


FILES: Mapping[str, tuple[str, Callable[[Study], str]]] = {
    "jspsych": ("jspsych.html", jspsych),
    "qualtrics": ("qualtrics.txt", qualtrics),
}
"""By platform, the file's name in the study's folder and what makes it."""


def write_for(platform: str, folder: Path) -> Path:
    """The study in that folder for another platform; the file. StudyError when there is no study,
    or the file cannot be written.
    """
    name, make = FILES[platform]
    write_whole(folder / name, make(open_study(folder)))
    return folder / name
