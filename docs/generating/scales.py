"""Every scale: what it measures, its items, how it is scored, where it comes from, and what it is not."""

from collections.abc import Sequence

from docs.generating.text import page, table
from simcounsel.instruments.scale import find_instrument, shipped_names
from simcounsel.specs.scale import Scale


def shipped() -> dict[str, Scale]:
    """By name, as they are asked in English."""
    found = {}
    for name in sorted(shipped_names()):
        scale = find_instrument(name)
        if isinstance(scale, Scale):
            found[name] = scale
    return found


def _scored(scale: Scale) -> str:
    bounds = scale.range
    told = [
        f"Each item {bounds.min:g} to {bounds.max:g}" if bounds else "",
        str(scale.scoring or ""),
        scale.direction.replace("_", " "),
    ]
    return "; ".join(one for one in told if one) + "."


def _parts(named: str | Sequence[str] | None) -> Sequence[str]:
    return (named,) if isinstance(named, str) else named or ()


def scales() -> str:
    """The page."""
    parts = []
    for name, scale in shipped().items():
        who = (
            "the person itself (a simulated self-report)"
            if scale.respondent == "self"
            else f"a judge, who sees {scale.sees}"
        )
        facts = [
            ("measures", scale.measures),
            ("who answers", who),
            ("scored", _scored(scale)),
            ("source", scale.source),
            ("licence", scale.licence),
        ]
        if scale.stands_in_for:
            facts.append(
                ("what it is not", f"{scale.stands_in_for.instrument}. {scale.stands_in_for.note}")
            )
        items = table(("item", "text"), [(f"`{item.id}`", str(item.text)) for item in scale.items])
        of = {
            one.id: [item.id for item in scale.items if one.id in _parts(item.subscale)]
            for one in scale.subscales
        }
        parts_of = table(
            ("part", "items"),
            [
                (f"`{one.id}` {one.name}", ", ".join(f"`{item}`" for item in of[one.id]))
                for one in scale.subscales
            ],
        )
        bands = table(
            ("from", "band"), [(f"{band.at_least:g}", str(band.name)) for band in scale.bands]
        )
        parts.append(
            "\n\n".join(
                filter(
                    None,
                    [
                        f"## {name}",
                        f"**{scale.name}**, version {scale.version}.",
                        table(("", ""), [(f"**{key}**", str(told)) for key, told in facts]),
                        items,
                        parts_of,
                        bands,
                    ],
                )
            )
        )
    about = (
        "Simulated answers: no norm of people holds for them, and no scale here is a diagnosis. How they are asked and counted is in"
        " [Measuring](../measuring.md); a scale of your own is [a file](files.md#scale)."
    )
    return page("Scales", about, *parts)
