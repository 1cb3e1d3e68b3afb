"""What is said of clinicians wherever a judge's number is shown: one sentence.

`simcounsel study pack clinicians` writes a file once two clinicians have rated its talks and a
judge has, too; SIMCOUNSEL_CLINICIANS names it.
"""

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simcounsel.errors import SpecError

SETTING = "SIMCOUNSEL_CLINICIANS"
NOBODY = {"en": "No clinician has rated this.", "zh": "尚无临床工作者评定过这些。"}
RATED = {
    "en": "{raters} clinicians rated {talks} other talks: with their consensus {judge} agrees by"
    " alpha {value:.2f} [{low:.2f}, {high:.2f}] on {instrument} (pack {digest}).",
    "zh": "{raters} 位临床工作者评定过另外 {talks} 段会谈：{judge} 与其共识的一致性"
    " α 为 {value:.2f} [{low:.2f}, {high:.2f}]，量表 {instrument}（资料包 {digest}）。",
}


class Agreed(BaseModel):
    """How far a judge agrees with clinicians."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    value: float
    """Krippendorff's alpha (ordinal) of the judge with the clinicians' consensus."""
    low: float
    """`low`, `high`: of its 95% interval."""
    high: float
    talks: Annotated[int, Field(ge=2)]


class ByClinicians(BaseModel):
    """The file: an instrument, and the judges that were held against clinicians."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    format: Literal[1] = 1
    instrument: str
    raters: Annotated[int, Field(ge=2)]
    """Who say that they are clinicians."""
    digest: str
    """Of the pack."""
    judges: dict[str, Agreed]


def clinicians_said(
    instrument: str | None = None, judge: str | None = None, language: str = "en"
) -> str:
    """That no clinician has rated this; or, where the file that SIMCOUNSEL_CLINICIANS names knows
    this instrument and judge, how far they agree. SpecError where that file cannot be read.
    """
    code = "zh" if language == "zh" else "en"
    known = _known()
    agreed = known.judges.get(judge or "") if known and known.instrument == instrument else None
    if known is None or agreed is None:
        return NOBODY[code]
    return RATED[code].format(
        **agreed.model_dump(),
        judge=judge,
        instrument=instrument,
        raters=known.raters,
        digest=known.digest[:12],
    )


def _known() -> ByClinicians | None:
    file = os.environ.get(SETTING)
    if not file:
        return None
    try:
        return ByClinicians.model_validate_json(Path(file).expanduser().read_bytes())
    except (OSError, ValidationError) as error:
        raise SpecError(
            [
                f"{file}: cannot be read ({str(error).splitlines()[0]}); {SETTING} names the"
                " clinicians.json of a pack; correct or unset it"
            ]
        ) from None
