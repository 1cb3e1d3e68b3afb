"""`simcounsel train export`: an adapter for llama.cpp and for `--model embedded+adapter=`."""

from pathlib import Path
from typing import Annotated

import typer

from training.errors import TrainingError

FILE = "adapter.gguf"
"""Beside the PEFT files, where `--model embedded+adapter=FOLDER` finds it."""


def register(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command()(export)


def export(
    adapter: Annotated[
        Path,
        typer.Argument(
            metavar="ADAPTER",
            help="A PEFT folder, with adapter_config.json, or a training's folder.",
        ),
    ],
    as_gguf: Annotated[
        bool, typer.Option("--gguf", help="Write the GGUF file that llama.cpp loads.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="OUT.gguf", help=f"Default: {FILE} in the adapter's folder."
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="BASE",
            help="The base model, if the adapter does not say it: embedded, a folder, a GGUF file.",
        ),
    ] = None,
) -> None:
    """Write an adapter in the form that another program loads; --gguf: llama.cpp, and simcounsel
    run ... --model embedded+adapter=ADAPTER, or local:qwen2.5-0.5b+adapter=ADAPTER.
    """
    if not as_gguf:
        raise TrainingError(
            "export: say the form; there is --gguf (as PEFT files the adapter already is what"
            " transformers and vLLM load)"
        )
    from training.adapters.bases import find_base, pinned_base
    from training.adapters.llama_cpp import write
    from training.adapters.peft_folder import read_adapter

    found = read_adapter(adapter)
    file = out or found.folder / FILE
    named = base or found.base
    layers = write(found, find_base(named, found.folder), file)
    typer.echo(
        f"{file}: {layers} layers, {file.stat().st_size / 1e6:.1f} MB, adapters of rank"
        f" {_ranks({one.rank for one in found.layers.values()})}"
    )
    speaks = named if pinned_base(named) else "local:BASE.gguf"
    typer.echo(
        f"llama-server --lora {file}   or   simcounsel run WORLD --model {speaks}+adapter={file}"
    )


def _ranks(ranks: set[int]) -> str:
    return str(min(ranks)) if len(ranks) == 1 else f"{min(ranks)} to {max(ranks)}"
