"""A client's questionnaire answered by an observer, who reads a transcript and answers for the
client. It is an instrument of its own, with an id of its own, so that its numbers are never taken
for a self-report.
"""

from simcounsel.errors import SpecError
from simcounsel.prompts import phrase
from simcounsel.specs.scale import Scale, StandsIn
from simcounsel.specs.scores import Missing

FROM_TRANSCRIPT = "_from_transcript"
LONGEST = 40
"""Characters of an id."""


def is_from_transcript(instrument: str) -> bool:
    """Whether an instrument's id is that of a client's questionnaire which an observer answered."""
    return instrument.endswith(FROM_TRANSCRIPT)


def from_transcript(scale: Scale) -> Scale:
    """A self-report as a scale for an observer of a transcript.

    Items to which the conversation gives nothing to go by may be left open, up to half of those
    that make a score; the mean of the others stands for them. Bands and flags are left out: their
    cut-offs are for what people say of themselves. SpecError when the id would be too long.
    """
    name = scale.id + FROM_TRANSCRIPT
    if len(name) > LONGEST:
        raise SpecError(
            [
                f"{scale.id}: as rated from a transcript its id would be {name}, longer than"
                f" {LONGEST} characters; choose an id of at most {LONGEST - len(FROM_TRANSCRIPT)}"
            ]
        )
    half = Missing(
        rule=scale.missing.rule,
        most=scale.missing.most,
        most_not_applicable=len(scale.items) // 2,
        source="our own: from a transcript up to half of the items may be left open",
    )
    fields = {
        "id": name,
        "name": f"{scale.name}, rated from transcript",
        "respondent": "observer",
        "sees": "transcript",
        "block": None,
        "stands_in_for": StandsIn(
            instrument=scale.name,
            note=(
                "Answered by an observer who read one conversation; this is not the client's"
                " self-report, and neither norms nor cut-offs apply."
            ),
        ),
        "missing": half,
        "subscales": tuple(part.model_copy(update={"missing": None}) for part in scale.subscales),
        "bands": (),
        "flags": (),
    }
    return asked_of_an_observer(scale.model_copy(update=fields), "en")


def asked_of_an_observer(scale: Scale, language: str) -> Scale:
    """The texts of a questionnaire in a language as an observer is given them."""
    nothing = phrase("scale_words", "nothing said", language)
    return scale.model_copy(
        update={
            "instruction": phrase("scale_words", "for client", language, asked=scale.instruction),
            "items": tuple(
                item.model_copy(update={"not_applicable": nothing}) for item in scale.items
            ),
        }
    )
