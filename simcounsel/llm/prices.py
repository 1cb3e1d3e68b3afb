"""What a request costs, by a table of list prices that the user can put their own over."""

import ipaddress
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from pydantic import Field

from simcounsel.allowed import own_folder
from simcounsel.specs.load import Spec, load_spec

OURS = Path(__file__).with_name("prices.yaml")
_FREE = re.compile(r"(?:embedded|local|scripted|recorded|byhand)(?:[:+].*)?", re.DOTALL)
_VERSION = re.compile(
    r"[-@](?:\d{4}-\d\d-\d\d|\d{8}|\d{3,4}|latest|preview(?:-\d\d-\d\d(?:-\d{4})?)?)"
)
"""How a dated version of a model goes on after its name."""


class Price(Spec):
    """USD per million tokens, into and out of a model."""

    usd_in: float = Field(alias="in", ge=0, allow_inf_nan=False)
    usd_out: float = Field(alias="out", default=0.0, ge=0, allow_inf_nan=False)


class PriceFile(Spec):
    """A price file."""

    as_of: str | None = None
    """When the prices were looked up."""
    prices: dict[str, Price] = Field(default_factory=dict)
    same_as: dict[str, str] = Field(default_factory=dict)
    """Beginning of a name to the one that it is read as."""


class Prices:
    """Prices by model name."""

    def __init__(
        self, prices: Mapping[str, Price], same_as: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """The longest name that fits a model counts."""
        self._prices = dict(sorted(prices.items(), key=lambda item: -len(item[0])))
        self._same_as = dict(same_as)
        self._found: dict[str, Price | None] = {}

    @classmethod
    def load(cls, path: Path | None = None) -> "Prices":
        """Our prices, and over them those of `path`, or else of ~/.config/simcounsel/prices.yaml if
        there is one.

        Raises SpecError with file and line for a file that is missing or wrong.
        """
        home = own_folder() / "prices.yaml"
        theirs = path or (home if home.is_file() else None)
        files = [load_spec(file, PriceFile)[0] for file in (OURS, theirs) if file]
        prices = {name: price for file in files for name, price in file.prices.items()}
        return cls(
            prices, {start: other for file in files for start, other in file.same_as.items()}
        )

    def cost_usd(
        self, model_name: str, tokens_in: int | None, tokens_out: int | None
    ) -> float | None:
        """None when the price, or the number of tokens of a model that costs, is unknown; 0.0 for
        models in this process, in a recording, or on a server of this machine or its private
        network.
        """
        if model_name not in self._found:
            self._found[model_name] = self._price(model_name, self._same_as)
        price = self._found[model_name]
        if price is None:
            return None
        if price.usd_in == price.usd_out == 0:
            return 0.0
        if tokens_in is None or tokens_out is None:
            return None
        return (tokens_in * price.usd_in + tokens_out * price.usd_out) / 1e6

    def in_process(self, model_name: str) -> bool:
        """Whether a model is in this process, in a recording or a folder of files, so that
        asking it sends nothing.
        """
        return _FREE.fullmatch(model_name) is not None

    def _price(self, name: str, same_as: Mapping[str, str]) -> Price | None:
        for known, price in self._prices.items():
            if name == known or (name.startswith(known) and _VERSION.fullmatch(name, len(known))):
                return price
        if _FREE.fullmatch(name) or _is_local(name):
            return Price.model_validate({"in": 0, "out": 0})
        for start, other in same_as.items():
            if name.startswith(start):
                unused = {key: value for key, value in same_as.items() if key != start}
                return self._price(other + name[len(start) :], unused)
        return None


def _is_local(name: str) -> bool:
    """Whether a name is the address of a server on this machine or on its private network."""
    if not name.startswith(("http://", "https://")):
        return False
    try:
        host = urlsplit(name).hostname or ""
    except ValueError:
        return False
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False
