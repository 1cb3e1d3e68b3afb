"""`simcounsel trial`."""

import typer

trial = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Run a trial with people.")
