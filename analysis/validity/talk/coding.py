"""What client lines do, coded by a model, line by line; kept, so that nothing is asked twice."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

from analysis.errors import ReportError
from analysis.validity.talk.moves import Move
from analysis.validity.talk.sessions import ClientLine, TalkSession, TalkSessions
from simcounsel.chance import seed_of
from simcounsel.instruments.coding import CodedTurns
from simcounsel.instruments.facts import CodeFacts
from simcounsel.instruments.material import CLIENT, COUNSELOR, Material
from simcounsel.llm.fallbacks import FallbackShare
from simcounsel.llm.question import Ask, Question, Reply, ask
from simcounsel.llm.switchboard import Switchboard
from simcounsel.measuring.validate import open_judge
from simcounsel.prompts import render
from simcounsel.runs.jsonl import append_line, json_lines
from simcounsel.specs.vocabulary import Language
from simcounsel.specs.world_settings import FallbackLimits

AT_A_TIME = 40
"""Lines that are coded with one question."""
TOGETHER = 16
"""Sessions that are under way at once; what is coded is kept after each lot."""
MOST_UNCODED = 0.1
"""With a greater share of its lines left uncoded a session has no codes."""
_TOKENS_A_LINE = 40
_MOVES: tuple[Move, ...] = get_args(Move)
Coding = tuple[frozenset[Move], ...]


class Coder:
    """A model that codes sessions. file: where the codes are kept, JSONL, a session a line."""

    def __init__(self, model: str, file: Path) -> None:
        self.model = model
        self.file = file
        self._known: dict[str, Coding | None] = {}
        for row in json_lines(file):
            coding = row.get("codes")
            self._known[str(row.get("key"))] = (
                None if coding is None else tuple(frozenset(one) for one in coding)
            )

    def code(
        self, sessions: Sequence[TalkSession], tell: Callable[[str], None] = lambda _: None
    ) -> None:
        """Code what is not coded yet. ModelUnreachable, TooManyFallbacks stop it; what was coded is
        kept. ReportError when it cannot be kept.
        """
        left = {key: one for one in sessions if (key := self._key(one)) not in self._known}
        keys = list(left)
        if not keys:
            return
        models = open_judge(self.model)
        models.fallbacks = FallbackShare(FallbackLimits())
        try:
            self._code(left, keys, models, tell)
        finally:
            models.close()

    def _code(
        self,
        left: Mapping[str, TalkSession],
        keys: Sequence[str],
        models: Switchboard,
        tell: Callable[[str], None],
    ) -> None:
        for start in range(0, len(keys), TOGETHER):
            some = keys[start : start + TOGETHER]
            outcomes = models.ask({key: coded(left[key]) for key in some})
            rows = []
            for key in some:
                coding = outcomes[key].value
                self._known[key] = coding
                codes = None if coding is None else [sorted(one) for one in coding]
                rows.append(
                    {"key": key, "model": self.model, "session": left[key].id, "codes": codes}
                )
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True)
                append_line(self.file, *rows)
            except OSError as error:
                raise ReportError(
                    f"{self.file}: cannot be written ({error.strerror}); choose another --out"
                ) from None
            tell(f"coded by {self.model}: {start + len(some)} of {len(keys)} sessions")

    def codes(self, session: TalkSession) -> Coding:
        """The codes of each client line; of a session that could not be coded none at all."""
        return self._known.get(self._key(session)) or ()

    def coded_of(self, sessions: TalkSessions) -> TalkSessions:
        """Those that could be coded. ReportError when it is none."""
        kept = tuple(one for one in sessions.found if self.codes(one))
        if not kept:
            raise ReportError(
                f"{self.model} could code none of {len(sessions.found)} sessions; name another"
                " --coder, or none"
            )
        return TalkSessions(found=kept, notes=sessions.notes)

    def _key(self, session: TalkSession) -> str:
        """Of the model and of all that it is asked."""
        asked = "+".join(one.key for one in _questions(session))
        return f"{seed_of(self.model, asked):016x}"


def coded(session: TalkSession) -> Ask[Coding | None]:
    """The codes of each client line; None where too many were left out."""
    found: dict[int, frozenset[Move]] = {}
    for question in _questions(session):
        reply: Reply[CodedTurns | None] = yield from ask(question)
        for one in reply.value.turns if reply.value else ():
            known = frozenset(move for move in _MOVES if move in one.codes)
            found.setdefault(one.turn, known)
    count = len(session.client_lines)
    there = [found.get(number) for number in range(1, count + 1)]
    if sum(one is None for one in there) > MOST_UNCODED * count:
        return None
    return tuple(one or frozenset() for one in there)


def _questions(session: TalkSession) -> Iterator[Question[CodedTurns | None]]:
    lines = session.client_lines
    language: Language = "zh" if session.chinese else "en"
    for start in range(0, len(lines), AT_A_TIME):
        yield _question(session.id, lines, start, lines[start : start + AT_A_TIME], language)


def _question(
    who: str,
    lines: Sequence[ClientLine],
    start: int,
    some: Sequence[ClientLine],
    language: Language,
) -> Question[CodedTurns | None]:
    first, last = start + 1, start + len(some)
    system, prompt = render(
        "client_codes",
        language,
        material=Material(lines=tuple(_spoken(lines[:last])), language=language).text(
            numbered=CLIENT
        ),
        first=first,
        last=last,
        again="",
    )
    return Question(
        verb="fill",
        purpose="client_codes",
        who=who,
        tier="judge",
        system=system,
        prompt=prompt,
        language=language,
        schema=CodedTurns,
        fallback=None,
        temperature=0.0,
        max_tokens=100 + _TOKENS_A_LINE * len(some),
        seed=seed_of("client_codes", first),
        facts=CodeFacts(
            instrument="client_codes",
            codes=_MOVES,
            first=first,
            turns=tuple((line.before, line.said) for line in some),
        ),
    )


def _spoken(lines: Sequence[ClientLine]) -> Iterator[tuple[str, str]]:
    """Both sides' lines as they came; what the counselor said last, after the client's last line,
    is not among them.
    """
    before = ""
    for line in lines:
        if line.before != before:
            yield COUNSELOR, line.before
        before = line.before
        yield CLIENT, line.said
