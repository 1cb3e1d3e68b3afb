"""Beginning a run: its folder, its manifest, its models."""

import hashlib
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from simcounsel.agents.mind import check_mind
from simcounsel.engine.measures import scales_of
from simcounsel.errors import ModelError
from simcounsel.llm.catalog import open_chat, open_chats, open_embed, prompts_for, timeouts_of
from simcounsel.llm.outage import Patience
from simcounsel.llm.prices import Prices
from simcounsel.llm.switchboard import Switchboard
from simcounsel.policies import policy_for
from simcounsel.policies.listening import kinds_in
from simcounsel.record_kinds import About
from simcounsel.runs.folder import complete_ticks
from simcounsel.runs.manifest import Parent
from simcounsel.runs.record import Record, open_record
from simcounsel.runs.run import Run
from simcounsel.runs.sources import recordings, vectors_lost
from simcounsel.specs.practice import check_locale
from simcounsel.specs.prompt_set import prompts_named
from simcounsel.specs.world import World

A = TypeVar("A", bound=About)
R = TypeVar("R", bound=Record[Any])
PACKAGES = (
    *("mesa", "numpy", "pydantic", "aiohttp", "onnxruntime", "xllamacpp"),
    *("opencc", "py3langid", "symspellpy"),
)
DATA = (".txt", ".yaml", ".json", ".jsonl", ".npz")
"""How files of data end."""
DECIDE_NOTHING: Mapping[str, str] = {
    "bench": "cases of benchmarks, which have manifests of their own",
    "bots/scan/labelled": "what weights were learned from, and measured on",
    "cli": "what `init` writes; a run's world holds it",
    "corpus/samples": "dialogues to read and to try",
    "corpus/seeds": "situations, which the manifest holds in full",
    "envs": "rewards and breaches, looked at behind an episode",
    "gallery": "finished runs",
    "instruments/reflecting/lines": "what weights were learned from",
    "llm/prices.yaml": "prices, which only stop a run",
    "measuring": "samples to try judges on",
    "prompts/sets": "sets in other words; the world holds the one that it uses",
    "danger/hearing/learning/lines": "what weights were learned from",
    "specs/other_names.yaml": "names to draw; the world holds those that were drawn",
    "practice": "what trainees and teachers read",
    "studies": "rating studies",
    "trial": "what participants read, which a trial's plan holds",
    "viewer": "pages",
}
"""Data that decide nothing in a run, and why."""


def begin_run(
    world: World, out: Path, parent: Parent | None = None, name: str | None = None
) -> Run:
    """A new run's folder, with everything in its manifest that says where it comes from. What is
    lived is its `Run.world`, in which keys and passwords are hidden. name: of the folder, if not
    world, condition, seed and time. SpecError for a locale without help lines, or an instrument
    that there is not.
    """
    _check_files(world)
    return begin_record(Run, world, out, parent, name)


def begin_record(
    kind: type[R], about: About, out: Path, parent: Parent | None = None, name: str | None = None
) -> R:
    """A new record's folder, as `begin_run` makes that of a run."""
    about = with_digests(about)
    return kind.create(
        about,
        out,
        models=about.model_names(),
        prompts=prompt_hashes(),
        versions=versions(),
        parent=parent,
        name=name,
    )


def with_digests(about: A) -> A:
    """With the digest of each file in its model's name, so that what goes on from here goes on with
    the same one; a world without a set of prompts also with that of its model.
    """
    from simcounsel.llm.catalog import pinned

    return _with_prompts(about.with_models(pinned))


def _with_prompts(about: A) -> A:
    if not isinstance(about, World) or about.prompts is not None:
        return about
    name = prompts_for(about.model_names()["reason"])
    found = prompts_named(name, Path()) if name else None
    if found is None or not found.speaks(about.language):
        return about
    return about.model_copy(update={"prompts": found})


def placed_nowhere(about: A) -> A:
    """With the digest of each adapter as its model's whole name, where it has one: equal for the
    same adapters, wherever they are seen from.
    """
    from simcounsel.llm.catalog import placeless

    return about.with_models(placeless)


def prompt_hashes(data: Traversable | None = None) -> dict[str, str]:
    """SHA-256 (16 hex digits) of every file that is sent to a model or decides what is, by its path
    in the package: texts, scales, words and ways of protection, weights of classifiers. All data
    count but for `DECIDE_NOTHING`, so that a new folder is not forgotten.

    data: the package's files; None: those of simcounsel as it is installed.
    """
    return dict(_hashes(data or files("simcounsel"), ""))


def _hashes(folder: Traversable, under: str) -> Iterator[tuple[str, str]]:
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        path = f"{under}{file.name}"
        if path in DECIDE_NOTHING:
            continue
        if file.is_dir():
            yield from _hashes(file, f"{path}/")
        elif file.name.endswith(DATA):
            yield path, hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def versions() -> dict[str, str]:
    """Of simcounsel, Python and the libraries that can change a run."""
    from simcounsel import __version__

    found = {"simcounsel": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def models_for(
    run: Record[Any],
    *,
    in_flight: int = 64,
    prices: Prices | None = None,
    patience: Patience | None = None,
) -> Switchboard:
    """The models a record names. What its own calls.jsonl holds is not asked again: after a
    crash the replies of the unfinished tick are there already, and a fork shares its parent's. A
    fallback of an unfinished tick is no reply, and no more is what reached nobody in runs of older
    versions: those questions are asked again."""
    roles = run.manifest.models
    *sources, own = recordings(run)
    done = complete_ticks(run.folder)
    recorded = {
        call["key"]: _kept(call)
        for call in own.calls()
        if not (call.get("unreached") or unfinished_fallback(call, done) or vectors_lost(call))
    }
    recorded |= {
        call["key"]: _kept(call)
        for source in sources
        for call in source.calls()
        if not call.get("given_up")
    }
    timeouts = run.timeouts
    return Switchboard(
        open_chats(roles, timeouts),
        open_embed(roles["embed"], timeouts_of(roles["embed"], timeouts)),
        in_flight=in_flight,
        prices=prices,
        recorded=recorded,
        only_recorded=bool(sources),
        patience=patience,
    )


def unfinished_fallback(call: dict[str, Any], done: int) -> bool:
    """Whether a recorded call is a fallback in a tick that is not among the `done` ones, with which
    nobody lived, or was given up before it was answered.
    """
    tick = call.get("tick")
    own = tick is not None and tick >= done and not call.get("copied")
    return bool(call.get("given_up")) or (own and call.get("source") == "fallback")


def _kept(call: dict[str, Any]) -> dict[str, Any]:
    """What a replay needs of a recorded call."""
    return {
        key: call[key]
        for key in (
            "model",
            "reply",
            "source",
            "problem",
            "weights",
            "notes",
            "left_out",
            "vectors",
        )
        if key in call
    }


def check_models(world: World) -> None:
    """Look up the policies and instruments and open the models that a world names, so that a
    missing key or package is said before a run's folder is made. ModelError, also where the
    embedded model, which knows English only, would have to speak another language, SpecError for a
    locale without help lines, or RunError for a recording that is not there.
    """
    _check_world(world)
    check_roles(world.model_names())


def check_roles(roles: Mapping[str, str]) -> None:
    """Open the models of these roles. ModelError and RunError as of `check_models`."""
    for spec in dict.fromkeys(spec for role, spec in roles.items() if role != "embed"):
        if spec.startswith("recorded:"):
            open_record(spec.removeprefix("recorded:"))
        elif spec != "embedded":
            open_chat(spec)
    if roles["embed"] != "embedded":
        open_embed(roles["embed"])


def _check_files(world: World) -> None:
    """Its help lines and instruments are there."""
    check_locale(world.safety)
    scales_of(world)


def check_people(world: World) -> None:
    """Look up the policies, minds and listeners of a world. SpecError or PluginError where one
    cannot be had, or is code that the user did not allow.
    """
    for resident in world.residents:
        policy_for(resident.role, resident.policy, world.language)
        check_mind(resident)
    kinds_in(world)


def _check_world(world: World) -> None:
    """So are its policies and minds, and its models speak its language."""
    _check_files(world)
    check_people(world)
    embedded = (
        role
        for role, spec in world.model_names().items()
        if spec.split("+")[0] == "embedded" and role != "embed"
    )
    if world.language != "en" and (role := next(embedded, None)):
        raise ModelError(
            f"models.{role}: the embedded model knows English only, and `language:"
            f" {world.language}` is another; name a model that speaks it (--model), see `python -m"
            " simcounsel models`"
        )
