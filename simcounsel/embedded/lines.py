"""The next line of a conversation, chosen out of hand-written ones by what was just said."""

from simcounsel.agents.facts import LineFacts
from simcounsel.agents.tasks import LineAnswer
from simcounsel.embedded.clientlines import ClientLines, Generate
from simcounsel.embedded.clientstates import ClientStates
from simcounsel.embedded.counselorlines import CounselorLines, Speak
from simcounsel.embedded.feelings import Feelings
from simcounsel.embedded.laypersonlines import LaypersonLines
from simcounsel.embedded.picks import Pick
from simcounsel.embedded.similarity import Similarity
from simcounsel.llm.question import Question
from simcounsel.scripted.registry import Given


class Lines:
    """Lines of all roles, with the feeling in them."""

    def __init__(
        self,
        similarity: Similarity,
        feelings: Feelings,
        generate: Generate,
        tuned: Speak | None = None,
    ) -> None:
        self._feelings = feelings
        self._states = ClientStates(similarity)
        self._client = ClientLines(similarity, feelings, generate)
        self._counselor = CounselorLines(similarity, tuned)
        self._layperson = LaypersonLines(similarity)

    def line(self, facts: LineFacts, question: Question[LineAnswer]) -> Given[LineAnswer]:
        """The line, and in the notes the words that it leans on."""
        pick = self._pick(facts, question)
        feeling = self._feelings.feel(pick.text)
        same = pick.emotion == feeling.emotion
        quiet = facts.role != "client"
        line = LineAnswer(
            say=pick.text,
            emotion=pick.emotion,
            intensity=2 if quiet else feeling.intensity if same else 5,
            poignancy=2 if quiet else feeling.poignancy if same else 4,
            wish="say goodbye" if pick.leaves else "go on",
        )
        if facts.thought:
            line = question.fallback.model_copy(update=line.model_dump())
        return Given(
            value=self._states.with_line(facts, line),
            source=pick.source,
            notes={"emphasis": pick.emphasis} if pick.emphasis else {},
        )

    def _pick(self, facts: LineFacts, question: Question[LineAnswer]) -> Pick:
        match facts.role:
            case "client":
                return self._client.line(facts, question)
            case "counselor":
                return self._counselor.line(facts, question)
            case "layperson":
                return self._layperson.line(facts, question)
