"""What one site has answered, on the site's own disk: a privacy account holds only if every round
of the agreed plan is answered once, whatever a server asks.

A server that asks for a round again, or for rounds that nobody agreed on, could average the noise
away; one that begins again in an empty folder would have everything spent twice. So a site writes a
round down before its answer leaves, and refuses it ever after. The answer is not kept: a round
whose answers a server lost stays lost.

    {"format": 1, "site": "north", "plans": {"<SHA-256 of what was agreed>":
        {"agreed": {"unit": "site", "rounds": 2, ...}, "answered": {"1": "2026-11-22T09:30:00"}}}}
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from training.errors import SiteRefused, TrainingError
from training.federation import state as on_disk
from training.federation.terms import Terms
from training.plan import TrainingPlan

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class SiteLedger:
    """Of one site and one agreed plan, in a file that may hold others beside it."""

    file: Path
    site: str
    agreed: Mapping[str, Any]
    """What the site takes part in, in words; `rounds`: how many it answers."""
    mark: str
    """SHA-256 of all that was agreed."""

    @classmethod
    def of(cls, file: Path, site: str, terms: Terms, plan: TrainingPlan) -> "SiteLedger":
        """For what this site itself has agreed to."""
        given = plan.privacy
        said = {
            "unit": given.unit,
            "delta": given.delta,
            "clip": given.clip,
            "budget_epsilon": given.budget_epsilon,
            "noise_multiplier": given.noise_multiplier,
            "rounds": plan.rounds,
        }
        whole = json.dumps([terms.fingerprint, plan.model_dump(mode="json")], sort_keys=True)
        mark = hashlib.sha256(whole.encode()).hexdigest()
        return cls(file=file, site=site, agreed=said, mark=mark)

    @staticmethod
    def beside(corpus: Path) -> Path:
        """Where a site's ledger lies if nobody says otherwise."""
        return corpus.with_name(f"{corpus.name}.ledger.json")

    def check(self, round: int) -> None:
        """Refused for a round that was not agreed on, or was answered already."""
        self._check(round, self._read())

    def spend(self, round: int) -> None:
        """Write a round down; it is on disk when this returns. Refused as by `check`, also if
        another process of the site was faster.
        """
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{self.file}.lock"):
            whole = self._read()
            self._check(round, whole)
            mine = whole["plans"].setdefault(
                self.mark, {"agreed": dict(self.agreed), "answered": {}}
            )
            mine["answered"][str(round)] = datetime.now(UTC).isoformat(timespec="seconds")
            on_disk.replaced(self.file, json.dumps(whole, indent=1) + "\n")

    def answered(self) -> tuple[int, ...]:
        """The rounds of this plan that are spent."""
        return tuple(sorted(map(int, self._mine(self._read()))))

    def _check(self, round: int, whole: Mapping[str, Any]) -> None:
        rounds = self.agreed["rounds"]
        if not 1 <= round <= rounds:
            raise SiteRefused(
                f"round {round} was never agreed on: the recipe of this site has rounds 1 to"
                f" {rounds}"
            )
        if when := self._mine(whole).get(str(round)):
            raise SiteRefused(
                f"round {round} was answered on {when} and is not answered again, as its noise"
                " could be averaged away; a server that lost the answers goes on with the next"
                " round"
            )

    def _mine(self, whole: Mapping[str, Any]) -> Mapping[str, str]:
        found: Mapping[str, str] = whole["plans"].get(self.mark, {}).get("answered", {})
        return found

    def _read(self) -> dict[str, Any]:
        if not self.file.exists():
            return {"format": FORMAT, "site": self.site, "plans": {}}
        try:
            found = json.loads(self.file.read_text(encoding="utf-8"))
            if found["format"] != FORMAT or found["site"] != self.site:
                raise ValueError(f"of site {found['site']!r}, format {found['format']}")
            return dict(found)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise TrainingError(
                f"{self.file}: the ledger of site {self.site!r} cannot be read ({error}); nothing"
                " is answered without it: bring it back from a copy, or name another by `ledger=`"
            ) from None
