"""What a shell offers for an argument when Tab is pressed (`simcounsel --install-completion`)."""

from collections.abc import Callable
from pathlib import Path

from simcounsel.errors import SimcounselError
from simcounsel.specs import shipped


def names_of(kind: shipped.Kind) -> Callable[[str], list[str]]:
    """Names of what is included; where none begins so, the shell goes on with files."""

    def offered(incomplete: str) -> list[str]:
        try:
            return [name for name in shipped.names(kind) if name.startswith(incomplete)]
        except SimcounselError:
            return []

    return offered


def runs(incomplete: str) -> list[str]:
    """Runs of the gallery, and those in runs/ here, the newest first."""
    from simcounsel import gallery
    from simcounsel.record_kinds import kind_of, records_in

    manifests = [kind_of(one).manifest_in(one) for one in records_in(Path("runs"))]
    here = sorted(filter(Path.is_file, manifests), key=lambda file: -file.stat().st_mtime)
    named = [str(file.parent) for file in here]
    named += [gallery.PREFIX + name for name in gallery.exhibits()]
    return [name for name in named if name.startswith(incomplete)]
