"""Training data out of dialogues: chosen, split, checked, merged and written with a card.

OUT/train.jsonl, validation.jsonl, test.jsonl    a split that no client fell to has no file
OUT/card.json, README.md                         what it is (see `card`)
OUT/dataset_info.json                            for LLaMA-Factory, where it reads the format
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simcounsel.corpus.card import Card, Checks, make_card
from simcounsel.corpus.checks import check_dialogues
from simcounsel.corpus.checks.language import language_of
from simcounsel.corpus.courses import By, whole
from simcounsel.corpus.dialogues import Dialogue, merge_turns
from simcounsel.corpus.folder import Folder
from simcounsel.corpus.formats import FORMATS, Format
from simcounsel.corpus.rated import rated_or_refused, with_ratings
from simcounsel.corpus.reading import damages_in, read_dialogues
from simcounsel.corpus.selection import Selection
from simcounsel.corpus.split import SPLITS, Shares, split_dialogues
from simcounsel.corpus.teaching import Teaching
from simcounsel.errors import CorpusError

AGAIN, FAULTY, NOTHING, MADE_UP = (
    "the same dialogue again",
    "a planted fault",
    "nothing to learn in it",
    "a canary of an audit",
)
OnProgress = Callable[[str, int, int], None]


@dataclass(frozen=True, kw_only=True)
class Export:
    """What is asked for."""

    format: str
    teaching: Teaching = field(default_factory=Teaching)
    selection: Selection = field(default_factory=Selection)
    shares: Shares = field(default_factory=Shares)
    seed: int = 1
    licence: str | None = None
    """Of the whole, in place of what the dialogues say."""
    checked: bool = True
    """Drop what the checks call an error."""
    course: By = "session"
    """What is one example of a course."""
    damaged: bool = False
    """Take what can be read of damaged runs, and mark it in the card; else they are refused."""

    @property
    def form(self) -> Format:
        """How rows are made. CorpusError when there is no such format, or it cannot hold what is
        asked for.
        """
        if self.format not in FORMATS:
            raise CorpusError(
                f"--format {self.format}: no such format; there are {', '.join(FORMATS)}"
            )
        form = FORMATS[self.format]
        if form.paired and (self.teaching.reasoning or self.teaching.tags):
            raise CorpusError(
                f"--format {self.format}: a draft has no reasoning and no tags of its own; leave"
                " out --reasoning and --tags"
            )
        if self.format == "native" and (self.teaching.reasoning or self.teaching.tags):
            raise CorpusError(
                "--format native: it holds reasoning, emotions, skills and stages as fields; leave"
                " out --reasoning and --tags"
            )
        return form

    def as_fields(self) -> dict[str, Any]:
        """The options, as the card holds them."""
        teaching, chosen = self.teaching, self.selection
        sided = self.form.sided
        return {
            "side": teaching.side if sided else None,
            "reasoning": teaching.reasoning,
            "tags": list(teaching.tags),
            "system": (teaching.system or "default") if sided else None,
            "partner": chosen.partner,
            "conditions": list(chosen.conditions),
            "themes": list(chosen.themes),
            "min_ratings": [str(floor) for floor in chosen.floors],
            "course": self.course,
            "split": str(self.shares),
            "seed": self.seed,
            "licence": self.licence,
            "checked": self.checked,
        }


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Dialogues that will be written, each with its split, and what became of the others."""

    dialogues: tuple[Dialogue, ...]
    merged_turns: int
    left_out: dict[str, int]
    checks: Checks


def export(
    sources: Sequence[Path | str], out: Path, wanted: Export, on_progress: OnProgress | None = None
) -> Card:
    """Read the sources and write the folder `out`, new or in place of an earlier export; the card
    says what was written.

    on_progress: told what is done, how far, of how much. CorpusError says what is wrong with a
    source, an option or the folder; nothing half-written is left behind.
    """
    form, tell = wanted.form, on_progress or (lambda what, done, of: None)
    folder = Folder.claim(out)
    found: list[Dialogue] = []
    damages: list[str] = []
    trials: set[str] = set()
    for number, source in enumerate(sources, 1):
        rated, spoiled = rated_or_refused(Path(source), damaged=wanted.damaged)
        trials |= {one.judge for one in rated if one.trial}
        damages += (*damages_in(source), *spoiled) if wanted.damaged else ()
        found += with_ratings(read_dialogues(source, damaged=wanted.damaged), rated)
        tell("reading", number, len(sources))
    try:
        prepared = prepare(found, wanted)
    except CorpusError as error:
        raise CorpusError(f"{error}{_about_trials(trials, wanted)}") from None
    rows = {split: [one for one in prepared.dialogues if one.split == split] for split in SPLITS}
    with folder:
        counted: dict[str, int] = {
            split: folder.write(form, split, part, wanted.teaching, tell)
            for split, part in rows.items()
            if part
        }
        card = make_card(
            prepared.dialogues,
            format=form.name,
            options=wanted.as_fields(),
            rows=counted,
            merged_turns=prepared.merged_turns,
            left_out=prepared.left_out,
            checks=prepared.checks,
            damaged=damages,
            files=folder.files,
        )
        folder.finish(card, form)
    return card


def prepare(found: Iterable[Dialogue], wanted: Export) -> Prepared:
    """What will be written: checked as it was read, so that `corpus check` says the same, then
    merged. CorpusError when nothing is left, or nothing for training.
    """
    dialogues = _named_apart(found)
    wanted.selection.check(dialogues)
    kept, left_out = _chosen(dialogues, wanted)
    split = split_dialogues(kept, wanted.shares, wanted.seed)
    unmerged, checks = _checked(split) if wanted.checked else (split, Checks())
    merged = merge_turns(unmerged).dialogues
    kept_by_checks = whole(merged) if wanted.course == "whole" else merged
    usable = tuple(one for one in kept_by_checks if wanted.form.usable(one, wanted.teaching))
    if len(usable) < len(kept_by_checks):
        left_out[_nothing(wanted)] = len(kept_by_checks) - len(usable)
    _check_enough(split, usable, len(dialogues), left_out, checks, wanted)
    completed = tuple(_completed(one, wanted.licence) for one in usable)
    return Prepared(
        dialogues=completed, merged_turns=_merged_in(completed), left_out=left_out, checks=checks
    )


def _about_trials(judges: set[str], wanted: Export) -> str:
    """Behind an error: ratings that are there and did not count."""
    names = ", ".join(sorted(judges))
    return (
        f"; ratings by {names} do not count, since they only try the software"
        if judges and wanted.selection.floors
        else ""
    )


def _completed(dialogue: Dialogue, licence: str | None) -> Dialogue:
    """With the licence, if one is given, and the language, if it was not said and can be told from
    the words.
    """
    language = dialogue.language or language_of("\n".join(dialogue.lines()))
    return dialogue.model_copy(
        update={"licence": licence or dialogue.licence, "language": language}
    )


def _nothing(wanted: Export) -> str:
    return "no line that was revised" if wanted.form.paired else NOTHING


def _merged_in(dialogues: Iterable[Dialogue]) -> int:
    return sum(turn.merged - 1 for dialogue in dialogues for turn in dialogue.turns)


def _named_apart(dialogues: Iterable[Dialogue]) -> tuple[Dialogue, ...]:
    """The dialogues, a repeated id with a number behind it."""
    seen: Counter[str] = Counter()
    made, taken = [], set()
    for dialogue in dialogues:
        name = dialogue.id
        while name in taken:
            seen[dialogue.id] += 1
            name = f"{dialogue.id}~{seen[dialogue.id] + 1}"
        taken.add(name)
        made.append(dialogue if name == dialogue.id else dialogue.model_copy(update={"id": name}))
    return tuple(made)


def _chosen(dialogues: Sequence[Dialogue], wanted: Export) -> tuple[list[Dialogue], dict[str, int]]:
    """What is wanted, each dialogue once (forked runs share their past), and why the others are
    not.
    """
    seen: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
    left_out: Counter[str] = Counter()
    kept = []
    for dialogue in dialogues:
        said = (dialogue.client, tuple((turn.speaker, turn.text) for turn in dialogue.turns))
        why = (
            MADE_UP
            if dialogue.canary
            else (
                FAULTY if dialogue.faults and wanted.checked else wanted.selection.refuses(dialogue)
            )
        )
        why = why or (AGAIN if said in seen else None)
        if why:
            left_out[why] += 1
        else:
            seen.add(said)
            kept.append(dialogue)
    return kept, dict(left_out)


def _checked(dialogues: tuple[Dialogue, ...]) -> tuple[tuple[Dialogue, ...], Checks]:
    if not dialogues:
        return (), Checks()
    found = check_dialogues(dialogues, splits_known=True)
    warned = Counter(finding.rule for finding in found.findings if finding.severity == "warning")
    by_rule = {rule: warned[rule] for rule in found.rules if warned[rule]}
    kept = found.kept(dialogues)
    return kept, Checks(
        applied=found.rules,
        rejected=len(dialogues) - len(kept),
        dropped=found.dropped(),
        warned=by_rule,
    )


def _check_enough(
    found: Sequence[Dialogue],
    usable: Sequence[Dialogue],
    read: int,
    lost: dict[str, int],
    checks: Checks,
    wanted: Export,
) -> None:
    """found: chosen and split, before the checks. lost: why dialogues were left out, but for the
    checks.
    """
    reasons = ", ".join(
        [
            *(f"{why} ({count})" for why, count in lost.items()),
            *([f"dropped by checks {checks.summary()}"] if checks.dropped else []),
        ]
    )
    anyway = ", or keep what the checks drop with --no-check" if checks.dropped else ""
    if not usable:
        of = f"{read} dialogue{'' if read == 1 else 's'}"
        raise CorpusError(
            f"none of {of} is left: {reasons}; ask for less, or look at them with `simcounsel"
            f" corpus check`{anyway}"
        )
    if wanted.shares.train <= 0 or any(one.split == "train" for one in usable):
        return
    drawn = f"--split {wanted.shares} --seed {wanted.seed}: "
    fell = sum(one.split == "train" for one in found)
    if fell:
        raise CorpusError(
            f"{drawn}{fell} of {len(found)} dialogues fell to train, and none of them is left. Of"
            f" all {read} that were read these were left out: {reasons}; look at them with"
            f" `simcounsel corpus check`{anyway}"
        )
    if any(one.client_unknown and one.split in ("validation", "test") for one in found):
        raise CorpusError(
            f"{drawn}nothing is in train: these files do not say who the clients are, so their"
            " dialogues stay in validation and test, where they were; name the file for training"
            " too, or what the files were exported from"
        )
    raise CorpusError(
        f"{drawn}no client falls to train (there are {len({one.client for one in found})}), since"
        " the split is drawn client by client; take another --seed, or --split 100,0,0"
    )
