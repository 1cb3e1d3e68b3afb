"""How often what reads the bots' lines is right: the rules', or a judge's, asked once a study."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from simcounsel.bots.scan.checked import Checked, checked
from simcounsel.bots.scan.judged import checked_judge
from simcounsel.bots.study.results import Scanners
from simcounsel.disk import write_whole
from simcounsel.errors import BudgetSpent
from simcounsel.intake import file_bytes, json_data
from simcounsel.llm.budget import Budget
from simcounsel.llm.catalog import open_chat, open_embed
from simcounsel.llm.prices import Prices
from simcounsel.llm.switchboard import Switchboard
from simcounsel.specs.experiment import Budget as Limits
from simcounsel.specs.vocabulary import Language

FILE = "judge.json"


def scanners_of(
    judge: str | None, out: Path, languages: Iterable[Language], prices: Prices, budget: Limits
) -> tuple[Scanners, Limits]:
    """By language, how often each mark is right; and what is left of the budget. judge: the model
    that reads the lines; what it says of the labelled ones is kept in `out`, and asked for once.
    None: the rules do. BudgetSpent.
    """
    if judge is None:
        return {code: checked(code) for code in languages}, budget
    file = out / FILE
    kept = json_data(file_bytes(file)) if file.exists() else {}
    if kept.get("judge") != judge:
        kept = {"judge": judge, "marks": {}} | {k: kept[k] for k in ("calls", "usd") if k in kept}
    marks = kept["marks"]
    if missing := [code for code in languages if code not in marks]:
        models = Switchboard({"judge": open_chat(judge)}, open_embed("scripted"), prices=prices)
        left = _left(budget, kept)
        models.limit(Budget(usd=left.usd, calls=left.calls), ())
        try:
            found = models.ask({code: checked_judge(code) for code in missing})
        finally:
            models.close()
        marks |= {
            code: {name: one.model_dump() for name, one in outcome.value.items()}
            for code, outcome in found.items()
        }
        kept["calls"] = kept.get("calls", 0) + models.usage.requests
        kept["usd"] = kept.get("usd", 0.0) + (models.usage.cost_usd or 0.0)
        out.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps(kept, indent=1))
    return {
        code: {name: Checked.model_validate(one) for name, one in marks[code].items()}
        for code in languages
    }, _left(budget, kept)


def _left(budget: Limits, spent: Mapping[str, Any]) -> Limits:
    """A budget less what the judge's trials took. BudgetSpent."""
    usd, calls = budget.usd, budget.calls
    if calls is not None and (calls := calls - spent.get("calls", 0)) < 1:
        raise BudgetSpent(
            f"the judge's trial took all {budget.calls} calls of the budget",
            f"--budget-calls {2 * (budget.calls or 1)}",
        )
    return Limits(usd=None if usd is None else max(0.0, usd - spent.get("usd", 0.0)), calls=calls)
