"""`simcounsel study pack`."""

import typer

pack = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Packs for raters.")
