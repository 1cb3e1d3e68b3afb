"""A recipe out of its file, with all that is wrong with it."""

from collections.abc import Iterator
from pathlib import Path

from simcounsel.errors import SpecError
from simcounsel.specs.load import Lines, line_of, load_spec
from training.plan_problems import Problem, problems
from training.recipe import Recipe

HASTY_FEDADAM = 0.5
"""From this server learning rate on FedAdam is refused: LoRA weights are hundredths, and it moves
each by about the rate.
"""


def load_recipe(path: Path) -> tuple[Recipe, Lines]:
    """A recipe out of a file, and the lines of its keys. SpecError names every problem with
    file:line and remedy.
    """
    recipe, lines = load_spec(path, Recipe)
    check(recipe, path, lines)
    return recipe, lines


def check(recipe: Recipe, path: Path, lines: Lines) -> None:
    """SpecError names every key that does not fit another, with file:line and remedy."""
    plan = recipe.plan() if recipe.sites else None
    refuse(path, lines, [*_problems(recipe), *(problems(plan) if plan else ())])


def refuse(path: Path, lines: Lines, found: list[Problem]) -> None:
    """Raises SpecError with file and line of each problem, if there are any."""
    if found:
        raise SpecError(
            [
                f"{path}:{line_of(lines, at)}: {'.'.join(str(part) for part in at)}: {what}"
                for at, what in found
            ]
        )


def _problems(recipe: Recipe) -> list[Problem]:
    parts = _of_data, _of_averaging, _of_base, _of_learning, _of_noise
    return [one for part in parts for one in part(recipe)]


def _of_data(recipe: Recipe) -> list[Problem]:
    given = [key for key in ("corpus", "folders", "sites") if getattr(recipe, key)]
    if not given:
        return [
            (
                (),
                (
                    "no data: add `corpus: samples` (or a file or folder), `folders:` with a corpus"
                    " for each site, or, to account only, `sites:`"
                ),
            )
        ]
    if len(given) > 1:
        return [((given[1],), f"is beside `{given[0]}`; keep one of the two")]
    if recipe.deal and not recipe.corpus:
        return [
            (
                ("deal",),
                f"deals one `corpus`; with `{given[0]}` the sites are already there; remove it",
            )
        ]
    return []


def _of_averaging(recipe: Recipe) -> Iterator[Problem]:
    averaging, lora = recipe.averaging, recipe.lora
    if lora.ranks and averaging.rule != "stack":
        yield (
            ("lora", "ranks"),
            (
                f"unequal ranks cannot be averaged by `{averaging.rule}`; take `averaging:"
                " {rule: stack}`"
            ),
        )
    if averaging.rule in ("stack", "exact") and lora.train == "b":
        yield (
            ("averaging", "rule"),
            (
                f"`{averaging.rule}` is for two trained factors; with `lora.train: b` plain"
                " `fedavg` is already exact"
            ),
        )
    if recipe.trains == "site" and averaging.rule in ("stack", "exact"):
        yield (
            ("averaging", "rule"),
            (
                f"`{averaging.rule}` is not counted with `privacy.unit: site`; take `fedavg` or"
                " `fedadam`"
            ),
        )
    if averaging.secure and (averaging.rule in ("stack", "exact") or averaging.send != "fp32"):
        yield (
            ("averaging", "secure"),
            (
                "masks are added over whole numbers of our own; take `rule: fedavg` or"
                " `fedadam` and `send: fp32`"
            ),
        )
    if averaging.server_learning_rate != 1 and averaging.rule in ("stack", "exact"):
        yield (
            ("averaging", "server_learning_rate"),
            f"has no meaning with `{averaging.rule}`; remove it",
        )
    if averaging.rule == "fedadam" and averaging.server_learning_rate >= HASTY_FEDADAM:
        yield (
            ("averaging", "server_learning_rate"),
            (
                "with `fedadam` each weight would move by up to"
                f" {averaging.server_learning_rate:g} a round, which undoes the model; say how"
                " far, such as 0.01"
            ),
        )


def _of_base(recipe: Recipe) -> Iterator[Problem]:
    averaging = recipe.averaging
    if averaging.rule in ("stack", "exact") and recipe.learning.quantize == "4bit":
        yield (
            ("averaging", "rule"),
            (
                f"`{averaging.rule}` adds to the base's weights, and with `quantize: 4bit` these"
                " are packed; take `fedavg` or `fedadam`, or `quantize: none`"
            ),
        )


def _of_learning(recipe: Recipe) -> Iterator[Problem]:
    learning = recipe.learning
    if learning.by_pairs:
        if recipe.lora.dropout:
            yield (
                ("lora", "dropout"),
                "would be another model for a line than for its draft; with `dpo` set it to 0",
            )
        if recipe.averaging.rule in ("stack", "exact"):
            yield (
                ("averaging", "rule"),
                (
                    f"`{recipe.averaging.rule}` adds to the base, and `dpo` compares with the"
                    " untouched one; take `fedavg` or `fedadam`"
                ),
            )
    elif "beta" in learning.model_fields_set:
        yield ("learning", "beta"), "belongs to `objective: dpo`; remove it"
    for key, yes in (("keep", learning.keep == "best"), ("patience", learning.patience)):
        if yes and recipe.sites:
            yield (
                ("learning", key),
                (
                    "goes by the loss of held-out clients, and between machines the server has"
                    " nobody's sessions; remove it"
                ),
            )


def _of_noise(recipe: Recipe) -> Iterator[Problem]:
    privacy = recipe.privacy
    if privacy is None:
        if "noise" in recipe.model_fields_set:
            yield ("noise",), "there is no noise with `privacy: none`; remove it"
        return
    if recipe.noise == "seeded" and not recipe.public_data:
        yield (
            ("noise",),
            (
                "whoever knows the seed takes `seeded` noise away, so it protects nobody; remove"
                " the line (`secure` is the default), or, if anyone may see the data, add"
                " `public_data: true`"
            ),
        )
    if privacy.unit == "site" and "participation" in recipe.model_fields_set:
        yield (
            ("participation",),
            "with `privacy.unit: site` it belongs to what is counted: move it under `privacy:`",
        )
    if privacy.unit == "site" and privacy.noise_at == "sum" and not recipe.averaging.secure:
        yield (
            ("privacy", "noise_at"),
            (
                "`sum` holds only if the server sees nothing but the sum: add `averaging:"
                " {secure: true}`"
            ),
        )
    if (
        privacy.unit == "site"
        and recipe.averaging.send == "int8"
        and privacy.noise_at == "each_site"
        and recipe.lora.train == "both"
    ):
        yield (
            ("averaging", "send"),
            (
                "with noise on both factors nothing survives int8; take `lora: {train: b}` or"
                " `send: fp32`"
            ),
        )
    if recipe.lora.dropout and recipe.trains in ("session", "client"):
        yield (
            ("lora", "dropout"),
            "is not needed with DP-SGD, whose noise regularizes; set it to 0",
        )
