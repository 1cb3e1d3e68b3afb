"""The closed lists that files, events and minds share. One word per thing."""

from typing import Literal, get_args

Emotion = Literal[
    "joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation", "neutral"
]
"""Plutchik's eight primary emotions, in the order of the wheel, and `neutral` at its hub."""

Language = Literal["en", "zh"]

Role = Literal["client", "counselor", "layperson"]

Stage = Literal["early", "telling", "doubting", "angry", "hopeful", "ending"]
STAGES: tuple[Stage, ...] = get_args(Stage)
"""Where a speaker is in what they have to say: guarded at first, hopeful perhaps later."""

Question = Literal["clarify", "assumption", "evidence", "viewpoint", "consequence", "question"]
"""Six kinds of Socratic question (Paul and Elder 2019): clarify what was meant, probe an
assumption, ask for evidence, for another viewpoint, for a consequence, or about the question."""

Act = Literal["greet", "reflect", "ask", "summarize", "close"]
"""What a counselor does beside the six questions; `ask` invites to tell more."""

Chatter = Literal["greet", "sympathize", "ask", "share", "suggest", "close"]
"""What a layperson does in a chat."""

Cue = Literal[
    "greeting",
    "opening",
    "clarify",
    "assumption",
    "evidence",
    "viewpoint",
    "consequence",
    "question",
    "chat",
    "sympathy",
    "advice",
    "closing",
]
"""What a client's line can answer: a greeting, an invitation to tell, one of the six questions,
a friend's chat, sympathy or advice, a closing."""

ActivityKind = Literal[
    "sleep",
    "sleepless",
    "rest",
    "care",
    "meal",
    "chore",
    "work",
    "errand",
    "leisure",
    "exercise",
    "social",
    "counseling",
    "worry",
]
PlaceKind = Literal[
    "bedroom",
    "kitchen",
    "living room",
    "bathroom",
    "garden",
    "workroom",
    "park",
    "market",
    "counseling center",
    "office",
    "cafe",
    "street",
    "other",
]
Condition = Literal["client_only", "client_layperson", "client_counselor", "everyone"]

Danger = Literal["suicide", "self_harm", "harm_to_others", "abuse"]
"""What may endanger somebody of whom a client speaks; `abuse`: the client is being harmed."""

RiskLevel = Literal["none", "low", "high", "imminent"]
"""How near danger is. low: a passive, past or vague wish; high: active thoughts, a method or plan,
self-harm now, a threat; imminent: means at hand, a farewell under way, injured, or being hurt
now.
"""

EMOTIONS: tuple[Emotion, ...] = get_args(Emotion)
QUESTIONS: tuple[Question, ...] = get_args(Question)
ACTS: tuple[Act, ...] = get_args(Act)
DANGERS: tuple[Danger, ...] = get_args(Danger)
RISK_LEVELS: tuple[RiskLevel, ...] = get_args(RiskLevel)
THEMES = (
    "sleep",
    "work",
    "study",
    "family",
    "couple",
    "grief",
    "loneliness",
    "self_worth",
    "anxiety",
    "illness",
)
"""Of the samples and situations that come with simcounsel; others may have their own."""
