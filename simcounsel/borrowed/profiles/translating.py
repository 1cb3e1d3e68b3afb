"""Files of profiles from one form into another, by way of ours."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap

from simcounsel.borrowed.profiles.files import ENDINGS, form_of, records_of, write_records
from simcounsel.borrowed.profiles.forms import FORMS, Form, form_named
from simcounsel.borrowed.profiles.reading import Read, read_client
from simcounsel.borrowed.profiles.writing import Json, profile_for
from simcounsel.errors import SpecError
from simcounsel.specs.load import read_yaml, refuse_existing, write_yaml
from simcounsel.specs.patient_psi import import_records
from simcounsel.specs.patient_psi_persona import ImportChoices
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona


@dataclass(kw_only=True)
class Done:
    """What came of a file."""

    written: list[Path] = field(default_factory=list)
    clients: int = 0
    told: list[str] = field(default_factory=list)
    """What was lost and filled in, by client."""
    refused: list[str] = field(default_factory=list)
    """Each record that was left out, and why."""


def personas_from(file: Path, form: str, out: Path, theme: str | None = None) -> Done:
    """Write a persona file of ours for each client in a file of another form. SpecError where the
    file cannot be read at all.
    """
    done = Done()
    taken = Counter[str]()
    for one in _clients(file, form_named(form, "--from"), theme, done):
        name = re.sub(r"\W+", "_", one.persona.name.casefold()).strip("_")
        taken[name] += 1
        path = out / f"{name}{f'_{taken[name]}' if taken[name] > 1 else ''}.yaml"
        try:
            refuse_existing(path)
        except SpecError as error:
            done.refused += error.problems
            continue
        sentences = [*_told(one), "Complete it, and add a `voice`, before you draw conclusions."]
        lines = wrap(" ".join(sentences), 110, break_on_hyphens=False, break_long_words=False)
        head = [f"Read from {file.name}, a file of {FORMS[form].title}.", *lines]
        write_yaml(path, "".join(f"# {line}\n" for line in head), one.data)
        done.written.append(path)
        _add(done, one.persona, _told(one))
    return done


def translate_file(
    file: Path, source: str | None, target: str, out: Path | None, theme: str | None = None
) -> Done:
    """Clients of a file in another form. source: None, by the file's shape. out: None: `personas`,
    or a file named after `file`. SpecError where the file cannot be read at all, or would be
    written over.
    """
    to = form_named(target, "--to")
    form = form_named(source or form_of(file), "--from")
    if form == to:
        raise SpecError([f"{file}: has the form {target!r} already; choose another --to"])
    if target == "ours":
        return personas_from(file, form.name, out or Path("personas"), theme)
    path = out or Path(f"{file.stem}.{target}.{ENDINGS.get(target, 'json')}")
    refuse_existing(path)
    done = Done()
    records: list[Json] = []
    for person, one in enumerate(_clients(file, form, theme, done), 1):
        made = profile_for(one.persona, target, situation=None, filled=one.filled)
        for record in made.records:
            if target == "patientpsi":
                record["id"] = f"{person}-{record['id'].partition('-')[2]}"
            records.append(record)
        _add(done, one.persona, [*_told(one, ours=False), *made.lost, *made.filled])
    if records:
        write_records(path, target, records)
        done.written.append(path)
    return done


def _add(done: Done, persona: ClientPersona, sentences: Sequence[str]) -> None:
    done.clients += 1
    done.told += [f"{persona.name}: {one}" for one in sentences]


def _told(one: Read, ours: bool = True) -> list[str]:
    """Sentences about a client that was read. ours: whether what was filled in is written."""
    filled = [f"Filled in plainly: {', '.join(one.filled)}."] if ours and one.filled else []
    return [*one.lost, *filled, *one.notes]


def _clients(file: Path, form: Form, theme: str | None, done: Done) -> Iterator[Read]:
    """The clients of a file, one by one; what is refused goes into `done`."""
    if form.name == "ours":
        persona = load_persona(file)
        if not isinstance(persona, ClientPersona):
            raise SpecError([f"{file}:1: role: {persona.role!r}; only a client is translated"])
        yield Read(persona=persona, data=read_yaml(file)[0])
    elif form.name == "patientpsi":
        yield from _patient_psi(file, form, theme, done)
    else:
        ImportChoices(theme=theme)  # refuses a theme that is not known
        for number, (line, record) in enumerate(records_of(file, form), 1):
            name = record.get("name") or record.get("Name") or "no name"
            who = f"{file}:{line}: record {number} ({' '.join(str(name).split())[:60]})"
            try:
                yield read_client(record, form, number, theme, file)
            except SpecError as error:
                done.refused += [f"{who}: {getattr(one, 'what', one)}" for one in error.problems]


def _patient_psi(file: Path, form: Form, theme: str | None, done: Done) -> Iterator[Read]:
    """By the importer of Patient-Psi's records, whose notes stay."""
    with TemporaryDirectory() as folder:
        made = import_records(file, Path(folder), ImportChoices(theme=theme))
        done.refused += [one.replace(f"{folder}/", "") for one in made.refused]
        done.told += made.notes
        for path in made.written:
            lines = path.read_text(encoding="utf-8").splitlines()
            head = " ".join(line.removeprefix("# ") for line in lines[1:] if line.startswith("# "))
            persona = load_persona(path)
            assert isinstance(persona, ClientPersona)
            note = head.partition(" Patient-Psi records hold no ")[0]
            yield Read(
                persona=persona,
                data=read_yaml(path)[0],
                filled=(*form.filled, *(() if theme else ("theme",))),
                notes=(note.replace("; --style chooses", ""),),
            )
