"""What seeker and supporter say when their models gave nothing usable; the log says `fallback`."""

from simcounsel.corpus.synthesis.events import Support

SILENT = ("I don't know.", "Hm.", "I'm not sure what to say.", "...", "Maybe.", "It's hard to put.")
"""A seeker's that has nothing to tell."""
SPARE: tuple[tuple[Support, str], ...] = (
    ("listening", "Take your time. I'm listening."),
    ("identifying", "Which part of that weighs most on you?"),
    ("exploring", "When did you last feel a little different about it?"),
    ("listening", "Say a little more, if you like."),
    ("goals", "What would be a first small sign that it is getting lighter?"),
    ("exploring", "What goes on in you as you tell me this?"),
    ("support", "What has helped you before, even a little?"),
    ("listening", "I'd like to understand that better."),
)
"""A supporter's."""
FAREWELL: tuple[Support, str] = ("support", "Let's leave it here for today. Thank you for coming.")
"""A supporter's last line."""
