"""`corpus`: what a corpus is worth."""

import typer

from simcounsel.cli import app

corpus = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Judge a corpus of dialogues: what is wrong with it, and what it is worth.")
app.add_typer(corpus, name="corpus")
