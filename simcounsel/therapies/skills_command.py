"""`skills`: what counselors of a therapy can do, as data."""

from pathlib import Path
from typing import Annotated

import typer

skills = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look at the therapies' skills, or bring your own.",
)
TherapyName = Annotated[
    str,
    typer.Argument(
        metavar="THERAPY", help="cbt, psychodynamic, behavioral, ... or a therapy file."
    ),
]


@skills.command("list")
def list_skills(
    therapy: Annotated[
        str | None, typer.Argument(metavar="[THERAPY]", help="Left out: the therapies there are.")
    ] = None,
) -> None:
    """List the therapies, or all skills of one, from coarse to fine."""
    from simcounsel.therapies.specs.therapy import find_therapy, shipped_therapies

    if therapy is None:
        for name in shipped_therapies():
            one = find_therapy(name)
            typer.echo(
                f"{name:24} {one.name}: {len(one.skills)} meta skills,"
                f" {sum(len(meta.skills) for meta in one.skills)} atomic ones"
            )
        return
    for meta in find_therapy(therapy).skills:
        typer.echo(f"{meta.id}: {meta.name}  ({', '.join(meta.stages)})")
        for skill in meta.skills:
            typer.echo(f"    {skill.id}: {skill.name}")


@skills.command("show")
def show_skill(
    therapy: TherapyName,
    skill: Annotated[
        str, typer.Argument(metavar="ID", help="A skill's id, as `skills list` has it.")
    ],
) -> None:
    """Show one skill: what is done, when, and what of a client calls for it."""
    from simcounsel.errors import SpecError
    from simcounsel.specs.problems import suggest
    from simcounsel.therapies.specs.therapy import Skill, find_therapy

    library = find_therapy(therapy).library()
    if skill not in library:
        names = list(library)
        nearest = suggest(skill, names) if len(names) < 40 else _near(skill, names)
        raise SpecError([f"{therapy}: no skill {skill!r}; {nearest}"])
    found = library[skill]
    parts = [("does", found.description), ("when", found.when), ("cue", found.cue)]
    if isinstance(found, Skill):
        parts += [
            ("not", found.not_when),
            *(("says", f"“{line}”") for line in found.examples),
            ("part of", found.parent),
        ]
    else:
        parts += [
            ("stages", ", ".join(found.stages)),
            ("skills", ", ".join(one.id for one in found.skills)),
        ]
    typer.echo(f"{skill}: {found.name}")
    for name, text in parts:
        if text:
            typer.echo(f"  {name:8} {text}")


def _near(name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return (
        f'did you mean "{near[0]}"?'
        if near
        else "`simcounsel library skills list THERAPY` names them all"
    )


@skills.command("import")
def import_skills_file(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="PsychEval's skills, JSON. It is theirs: mind its licence."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The therapy file to write.")] = Path(
        "my_therapy.yaml"
    ),
    like: Annotated[
        str | None,
        typer.Option("--like", help="The therapy whose stages and conceptualization are taken."),
    ] = None,
) -> None:
    """Read PsychEval's skills into a therapy file that a course can use."""
    from simcounsel.therapies.specs.psycheval import import_skills
    from simcounsel.therapies.specs.therapy import find_therapy

    made = import_skills(file, out, like)
    find_therapy(str(out))
    typer.echo(
        f"wrote {out}: {len(made['skills'])} meta skills,"
        f" {sum(len(meta['skills']) for meta in made['skills'])} atomic ones"
    )
