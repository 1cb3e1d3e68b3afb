"""`rate-page`: a blind rating study, made, served and collected."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli.options import OnlyClient


class Platform(StrEnum):
    """Where else a study may be held."""

    JSPSYCH = "jspsych"
    QUALTRICS = "qualtrics"


LEFT_OUT = {
    Platform.JSPSYCH: "put your platform's way of saving into its on_finish; links and the example"
    " are not in it",
    Platform.QUALTRICS: "import it as a TXT survey, then turn on the random order of the blocks and"
    " end the survey where consent is declined; links and the example are not in it",
}


def rate_page(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUNS]...",
            help="Runs, folders of runs, corpora, benches: to make a new study from.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="The study's folder.")
    ] = Path("study"),
    instrument: Annotated[
        str | None,
        typer.Option(
            "--instrument",
            help=(
                "transcript_quality, dialogue_quality, reply_quality (of benches; in Chinese"
                " reply_quality_zh), crisis_handling, conversation_experience,"
                " persona_consistency, persona_change, change_realism, recall_aptness, or a YAML"
                " file."
            ),
        ),
    ] = None,
    raters: Annotated[
        int | None,
        typer.Option(
            "--raters",
            min=1,
            max=500,
            help="How many raters; the instrument's number if not given.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Draws items, orders and sides.")] = 0,
    who: OnlyClient = None,
    partners: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="ROLE",
            help="Only conversations with a counselor, layperson or client; may be given again.",
        ),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(
            "--max-per-run",
            min=1,
            help="At most so many items of each run, corpus or bench, drawn by chance.",
        ),
    ] = None,
    fewest_lines: Annotated[
        int, typer.Option("--min-lines", min=1, help="Leave shorter conversations out.")
    ] = 4,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the raters' links until Ctrl-C.")
    ] = False,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="Port of the links, which stay true when it is served again; 0: any that is free.",
        ),
    ] = 8765,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            help="Address of the links; 0.0.0.0 lets other machines in, by these links only.",
        ),
    ] = "127.0.0.1",
    imports: Annotated[
        list[Path] | None,
        typer.Option(
            "--import",
            metavar="FILE",
            help="Take in answers that a rater downloaded and sent back; may be given again.",
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv", metavar="FILE", help="Write all answers, joined with the key, as CSV."
        ),
    ] = None,
    export: Annotated[
        Platform | None,
        typer.Option(
            "--export",
            help=(
                "Write the study's items for another platform, blind as they are: a page for"
                " jsPsych, or a text that Qualtrics imports (Advanced Format)."
            ),
        ),
    ] = None,
) -> None:
    """A blind rating study: people judge without knowing where it comes from. They are shown
    transcripts, replies of models, personas beside what was said and done, personas before and
    after, or two recalls of one moment.

    Make:     simcounsel study rate-page runs --instrument transcript_quality --raters 3 --out study

    Collect:  simcounsel study rate-page --out study --serve   (or send study/offline/RATER.html)

    Take in:  simcounsel study rate-page --out study --import FILE

    Export:   simcounsel study rate-page --out study --csv ratings.csv

    Elsewhere: simcounsel study rate-page --out study --export qualtrics

    Names, places and the instrument's masked words are taken out of the texts; read some before you
    send links. DIR/key.json says which item is which: keep it from the raters.
    """
    from simcounsel.studies import answers, study_lines, table

    if runs:
        for line in study_lines.make(
            runs,
            instrument,
            out,
            raters=raters,
            seed=seed,
            who=who,
            partners=partners,
            most=most,
            fewest_lines=fewest_lines,
        ):
            typer.echo(line)
    elif instrument is not None:
        raise typer.BadParameter(
            "name the runs to make a study from, such as: simcounsel study rate-page runs"
            " --instrument ...",
            param_hint="RUNS",
        )
    if imports:
        taken = answers.import_answers(out, imports)
        typer.echo(
            f"imported {taken.ratings} ratings and {taken.others} other answers (consent, about"
            f" the rater, example) into {out / 'answers.jsonl'}; {taken.known} were there already"
        )
    if csv is not None:
        wrote, left_out = table.write_csv(out, csv), answers.damaged_answers(out)
        typer.echo(f"wrote {wrote} rows to {csv}")
        for damage in left_out:
            typer.echo(damage, err=True)
        if left_out:
            missing = len(left_out) * len(study_lines.questions_of(out))
            typer.echo(f"up to {missing} rows are missing for these lines", err=True)
    if export is not None:
        from simcounsel.studies.platforms import write_for

        typer.echo(f"wrote {write_for(export.value, out)}; {LEFT_OUT[export]}")
    if serve:
        from simcounsel.studies.site import serve_ratings

        serve_ratings(out, host=host, port=port, say=typer.echo)
    elif not (imports or csv or export):
        for line in study_lines.state_lines(out):
            typer.echo(line)
