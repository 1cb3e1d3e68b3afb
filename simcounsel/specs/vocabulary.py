"""The closed lists that files, events and minds share. One word per thing."""

from typing import Literal, get_args

Emotion = Literal[
    "joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation", "neutral"
]
"""Plutchik's eight primary emotions, in the order of the wheel, and `neutral` at its hub."""

Role = Literal["client", "counselor", "layperson"]

Stage = Literal["early", "telling", "doubting", "angry", "hopeful", "ending"]
"""Where a speaker stands in what they have to say: guarded at first, hopeful perhaps later."""

Question = Literal["clarify", "assumption", "evidence", "viewpoint", "consequence", "question"]
"""Six kinds of Socratic question (Paul and Elder 2019): clarify what was meant, probe an
assumption, ask for evidence, for another viewpoint, for a consequence, or about the question."""

Act = Literal["greet", "reflect", "ask", "summarize", "close"]
"""What a counselor does beside the six questions; `ask` invites to tell more."""

Chatter = Literal["greet", "sympathize", "ask", "share", "suggest", "close"]
"""What a layperson does in a chat."""

Cue = Literal[
    "greeting", "opening", "clarify", "assumption", "evidence", "viewpoint", "consequence",
    "question", "chat", "sympathy", "advice", "closing",
]
"""What a client's line can answer: a greeting, an invitation to tell, one of the six questions,
a friend's chat, sympathy or advice, a closing."""

ActivityKind = Literal[
    "sleep", "sleepless", "rest", "care", "meal", "chore", "work", "errand", "leisure",
    "exercise", "social", "counseling", "worry",
]
PlaceKind = Literal[
    "bedroom", "kitchen", "living room", "bathroom", "garden", "workroom",
    "park", "market", "counseling center", "office", "cafe", "street", "other",
]
Condition = Literal["client_only", "client_layperson", "client_counselor", "everyone"]

EMOTIONS: tuple[Emotion, ...] = get_args(Emotion)
QUESTIONS: tuple[Question, ...] = get_args(Question)
ACTS: tuple[Act, ...] = get_args(Act)
CUES: tuple[Cue, ...] = get_args(Cue)
ACTIVITY_KINDS: tuple[ActivityKind, ...] = get_args(ActivityKind)
PLACE_KINDS: tuple[PlaceKind, ...] = get_args(PlaceKind)
