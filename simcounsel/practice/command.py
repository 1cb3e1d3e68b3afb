"""`simcounsel practice`."""

import typer

practice = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Practice counseling.")
