"""A chart for a dark ground is the light one in other colours: as it would be had it been drawn for the dark."""

import re
from collections.abc import Mapping

from analysis import style
from analysis.style import Look, Picture


def assert_dark_as_drawn(pictures: Mapping[str, Picture]) -> None:
    """On a narrow page; the wide one has the same parts elsewhere."""
    assert pictures
    look = Look(wide=False, dark=True)
    for id, one in pictures.items():
        assert tuple(one.svg) == style.LOOKS
        assert len(set(one.svg.values())) == 4
        assert one._draw is not None
        assert _numbered(one.svg[look]) == _numbered(style._drawn(one._draw, look, id, "svg")), id


def _numbered(svg: bytes) -> bytes:
    """Matplotlib names some parts after what they hold, colours too; here they are numbered as they come."""
    numbers: dict[bytes, bytes] = {}

    def number(found: "re.Match[bytes]") -> bytes:
        return found[1] + numbers.setdefault(found[2], b"part-%d" % len(numbers))

    return re.sub(rb'(id="|href="#|url\(#)([^")]+)', number, svg)
