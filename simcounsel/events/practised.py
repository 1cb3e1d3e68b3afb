"""What policies write and read; see `simcounsel.events.practice`."""

from simcounsel.events.data import Foreign
from simcounsel.events.practice import (
    Assessed,
    ClientShifted,
    CourseAdvanced,
    FactLearned,
    Formulated,
    HomeworkAgreed,
    Judged,
    MaterialOpened,
    Noted,
    Reasoned,
    Retrieved,
    SessionPlanned,
    SessionReviewed,
    Transitioned,
)

PRACTICE = (
    Assessed,
    Judged,
    Transitioned,
    Noted,
    Retrieved,
    Reasoned,
    SessionPlanned,
    MaterialOpened,
    SessionReviewed,
    FactLearned,
    Formulated,
    CourseAdvanced,
    ClientShifted,
    HomeworkAgreed,
    Foreign,
)
PracticeEvent = (
    Assessed
    | Judged
    | Transitioned
    | Noted
    | Retrieved
    | Reasoned
    | SessionPlanned
    | MaterialOpened
    | SessionReviewed
    | FactLearned
    | Formulated
    | CourseAdvanced
    | ClientShifted
    | HomeworkAgreed
    | Foreign
)
"""What policies write and read; see `simcounsel.events.practice`."""
