"""What one resident feels: what slots foresaw, and what moved it since, which fades."""

from dataclasses import dataclass

from simcounsel.events import Appraised
from simcounsel.specs.vocabulary import Emotion

STILL_FELT = 2
"""Intensity (1 to 10) below which a fading feeling is over."""


@dataclass
class Mood:
    """A fold over feelings."""

    half_life: float | None
    """In minutes, of a feeling that no slot foresaw; None: it does not fade."""
    emotion: Emotion = "neutral"
    """What is felt."""
    intensity: int = 1
    """How strong it is, 1 to 10."""
    moved: bool = False
    """Whether something that no slot foresaw was felt, since slots were last planned, and has not
    faded: then what they foresaw to feel does not count.
    """
    origin: tuple[Emotion, int, int] = ("neutral", 1, 0)
    """What was felt that no slot foresaw, how strong at first, and when."""
    tick: int | None = None
    """When something was appraised last; None: nothing since the last own line."""

    def appraised(self, event: Appraised, tick: int, minute: int, *, foreseen: bool) -> None:
        """Of what was felt in one tick the strongest feeling stays."""
        if tick != self.tick or event.intensity > self.intensity:
            self.emotion, self.intensity = event.emotion, event.intensity
        self.tick = tick
        if not foreseen:
            self.moved = True
            self.origin = (self.emotion, self.intensity, minute)
        elif event.emotion != self.origin[0]:
            self.moved = False

    def said(self, emotion: Emotion, intensity: int, minute: int) -> None:
        """Felt with a line. What stays of a talk is felt after its lines, however strong they
        were.
        """
        self.emotion, self.intensity = emotion, intensity
        self.moved = True
        self.origin = (emotion, intensity, minute)
        self.tick = None

    def outweighs(self, foreseen: int, minute: int) -> bool:
        """Whether what has moved one counts, and not what a slot foresaw with that intensity: for a
        half-life in any case, then while it is not the weaker.
        """
        emotion, left = self.faded(minute)
        if not self.moved or emotion == "neutral":
            return False
        fresh = self.half_life is None or minute - self.origin[2] < self.half_life
        return fresh or left >= foreseen

    def faded(self, minute: int) -> tuple[Emotion, int]:
        """What is left of what no slot foresaw: it fades by half in each half-life, to calm."""
        emotion, intensity, since = self.origin
        if self.half_life is None:
            return emotion, intensity
        left = round(intensity * 0.5 ** ((minute - since) / self.half_life))
        return (emotion, left) if left >= STILL_FELT else ("neutral", 1)
