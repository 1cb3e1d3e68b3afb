"""What one resident feels: what slots foresaw, and what moved it since, which fades."""

from simcounsel.events import Appraised
from simcounsel.specs.vocabulary import Emotion

STILL_FELT = 2
"""Intensity (1 to 10) below which a fading feeling is over."""


class Mood:
    """A fold over feelings. half_life: in minutes, of a feeling that no slot foresaw; None: it does
    not fade.
    """

    def __init__(self, half_life: float | None) -> None:
        self.emotion: Emotion = "neutral"
        self.intensity = 1
        self.moved = False
        """Whether something that no slot foresaw was felt, since slots were last planned, and has
        not faded: then what they foresaw to feel does not count.
        """
        self._half_life = half_life
        self._origin: tuple[Emotion, int, int] = ("neutral", 1, 0)
        """What was felt that no slot foresaw, how strong at first, and when."""
        self._tick: int | None = None

    def appraised(self, event: Appraised, tick: int, minute: int, *, foreseen: bool) -> None:
        """Of what was felt in one tick the strongest feeling stays."""
        if tick != self._tick or event.intensity > self.intensity:
            self.emotion, self.intensity = event.emotion, event.intensity
        self._tick = tick
        if not foreseen:
            self.moved = True
            self._origin = (self.emotion, self.intensity, minute)
        elif event.emotion != self._origin[0]:
            self.moved = False

    def said(self, emotion: Emotion, intensity: int, minute: int) -> None:
        """Felt with a line. What stays of a talk is felt after its lines, however strong they
        were.
        """
        self.emotion, self.intensity = emotion, intensity
        self.moved = True
        self._origin = (emotion, intensity, minute)
        self._tick = None

    def faded(self, minute: int) -> tuple[Emotion, int]:
        """What is left of what no slot foresaw: it fades by half in each half-life, to calm."""
        emotion, intensity, since = self._origin
        if self._half_life is None:
            return emotion, intensity
        left = round(intensity * 0.5 ** ((minute - since) / self._half_life))
        return (emotion, left) if left >= STILL_FELT else ("neutral", 1)
