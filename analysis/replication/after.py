"""What is asked when the runs are over keeps to the budget of the study."""

from dataclasses import dataclass
from pathlib import Path

from simcounsel.llm.budget import Budget
from simcounsel.llm.catalog import open_chat
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.llm.ledger import FILE, Ledger
from simcounsel.llm.prices import Prices
from simcounsel.llm.switchboard import Switchboard
from simcounsel.specs.experiment import Budget as Limits


@dataclass(frozen=True, kw_only=True)
class After:
    """The budget of a study whose runs are done."""

    budget: Limits
    prices: Prices
    runs: Path
    """The folder of the runs, where the account of the budget lies."""

    def limited(self, models: Switchboard) -> Switchboard:
        """The same models, which now count on in the account of the runs."""
        usd, calls = self.budget.usd, self.budget.calls
        if usd is not None or calls is not None:
            account = Ledger(self.runs / FILE, "after the runs")
            models.limit(Budget(usd=usd, calls=calls, ledger=account), None)
        return models

    def judge(self, name: str | None) -> Switchboard | None:
        """Whoever names groups; None where nobody is named who reads."""
        if name is None or name.startswith(("scripted", "embedded")):
            return None
        chat = open_chat(name)
        roles = {"reason": chat, "quick": chat, "judge": chat}
        return self.limited(Switchboard(roles, HashEmbeddings(), prices=self.prices))
