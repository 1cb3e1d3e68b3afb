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
"""Where a speaker stands in what they have to say: guarded at first, hopeful perhaps later."""

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

SynthesisRole = Literal["extractor", "seeker", "supporter", "evaluator", "corrector", "manager"]
"""Who writes a synthetic dialogue (Xue et al. 2026, MindCorpus, section III.A)."""

Disclosure = Literal[
    "introduces", "describes", "feels", "remembers", "asks_for_help", "asks_for_advice"
]
"""The six stages in which a seeker opens up (MindCorpus, Table IX)."""

Support = Literal["listening", "identifying", "exploring", "goals", "support"]
"""What a supporter works on, one after the other (MindCorpus, appendix B)."""

Quality = Literal[
    "confidentiality",
    "objectivity",
    "sympathy",
    "specialization",
    "feasibility",
    "listening",
    "collaboration",
    "tenderness",
    "respect",
]
"""What an evaluator judges in each of a supporter's lines (MindCorpus, appendix A)."""

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
SYNTHESIS_ROLES: tuple[SynthesisRole, ...] = get_args(SynthesisRole)
DISCLOSURES: tuple[Disclosure, ...] = get_args(Disclosure)
SUPPORTS: tuple[Support, ...] = get_args(Support)
QUALITIES: tuple[Quality, ...] = get_args(Quality)
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
