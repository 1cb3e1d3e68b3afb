"""What a rater meets before the items: consent, a few words about themselves, an item to train
on.
"""

from typing import Annotated, Literal

from pydantic import Field

from simcounsel.specs.load import Spec
from simcounsel.studies.study_parts import Seen

YOU, TRAINING, ATTENTION = "you", "training", "attention"
"""What an answer is called that is about no item: of oneself, of the item to train on; and the
question by which one shows that one reads.
"""
CONSENT = "consent"
CHECK_POINTS = 5
"""Of the scale of a check of attention."""
STANDARD: Literal["standard"] = "standard"
STANDARD_CONSENT = """\
You are asked to read short texts and to rate them. Unless whoever sent you this link says
otherwise, computer programs wrote them, and the people in them are simulated. Some are about
distress, and a few about danger to life.

Taking part is voluntary. You can stop at any time, without giving a reason, and need not answer
every question. What is kept are your answers, your comments, and how long each page was in sight;
no name, no address, nothing else about you but what you say below. If a text weighs on you, stop
reading and talk to somebody you trust, or to a crisis line where you live."""


class Fact(Spec):
    """A question about the rater, which may be left open."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    text: Annotated[str, Field(min_length=1, max_length=200)]
    choices: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=80)], ...],
        Field(min_length=2, max_length=20),
    ]


STANDARD_FACTS = (
    Fact(
        id="profession",
        text="What do you do?",
        choices=(
            "psychologist, counselor or psychotherapist",
            "in training to be one",
            "another health profession",
            "research",
            "something else",
        ),
    ),
    Fact(
        id="practice",
        text="For how many years have you worked with clients or patients?",
        choices=("not at all", "up to 2", "3 to 5", "6 to 15", "more than 15"),
    ),
    Fact(
        id="language",
        text="How well do you read the language of the texts?",
        choices=("it is my first language", "as well as my first", "well", "with some effort"),
    ),
)


class Training(Spec):
    """An item to train on, with the answers of somebody who knows; it counts in nothing."""

    shown: Seen
    answers: Annotated[dict[str, int], Field(min_length=1)]
    """By question; not every question needs one."""
    because: dict[str, Annotated[str, Field(min_length=1, max_length=600)]] = Field(
        default_factory=dict
    )
    """Why, by question."""
