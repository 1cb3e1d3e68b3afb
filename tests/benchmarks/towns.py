"""What the engine's benchmark lives through: the worlds of W1, W2 and W3, and the least mind that still recalls."""

from datetime import datetime
from functools import cache
from pathlib import Path

from simcounsel.agents.mind import Effects, Scene, Spoken
from simcounsel.agents.recollection import recollect
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import LineAnswer
from simcounsel.agents.views import bullets, whoami
from simcounsel.chance import seed_of
from simcounsel.events import Memory, Recalled, Scheduled, Slot
from simcounsel.llm.question import Ask, Question, Reply, ask
from simcounsel.specs.load import read_yaml
from simcounsel.specs.persona import AnyPersona
from simcounsel.specs.persona_file import parse_persona
from simcounsel.specs.residents import Appointment, Place, Relationship, ResidentSpec
from simcounsel.specs.world import World
from simcounsel.specs.world_settings import ConversationSettings, MemorySettings, ModelRoles

PERSONAS = Path(__file__).parents[2] / "personas"
START = datetime(2026, 3, 2, 6, 0)
LINES_OF_TALK = 4
PLANNED_SLOTS = 96
CLIENTS, COUNSELOR, LAYPEOPLE = (
    ("aisha", "daniela", "elif", "henrik", "ines"),
    "miriam",
    ("ben", "grace", "omar", "walter"),
)


@cache
def persona(name: str) -> AnyPersona:
    """personas/NAME.yaml."""
    file = PERSONAS / f"{name}.yaml"
    data, lines = read_yaml(file)
    return parse_persona(data, file, lines)


def plain_town(residents: int, ticks: int, *, pairs: bool) -> World:
    """W1: everybody alone in a house of one room. W2 (pairs): two in each, who talk in every tick."""
    names = [f"R{number:03}" for number in range(residents)]
    house = [f"House {number // 2 if pairs else number:03}" for number in range(residents)]
    return World(
        name="W2" if pairs else "W1",
        start=START,
        ticks=ticks,
        places=tuple(Place(name=h, kind="living room") for h in dict.fromkeys(house)),
        residents=tuple(
            ResidentSpec(name=n, persona=persona("ines"), home=h, starts_in=h)
            for n, h in zip(names, house, strict=True)
        ),
        relationships=tuple(
            Relationship(between=(a, b), score=10)
            for a, b in zip(names[::2], names[1::2], strict=False)
        )
        if pairs
        else (),
        memory=MemorySettings(reflect_after_memories=10**9, reflect_after_poignancy=10**9),
        conversation=ConversationSettings(max_turns=LINES_OF_TALK, chance=1.0, cool_down_ticks=0),
        models=ModelRoles(embed="scripted"),
    )


def crowd(residents: int, ticks: int) -> World:
    """Laypeople, each in a house of one room, and a park for every ten of them; nobody counsels."""
    names = [f"R{number:04}" for number in range(residents)]
    parks = [f"Park {number:03}" for number in range(-(-residents // 10))]
    files = ("ben", "grace", "omar")
    return World(
        name="Crowd",
        start=START,
        ticks=ticks,
        places=(
            *(Place(name=f"House of {name}", kind="kitchen") for name in names),
            *(Place(name=park, kind="park") for park in parks),
        ),
        residents=tuple(
            ResidentSpec(
                name=name,
                persona=persona(files[number % 3]),
                home=f"House of {name}",
                starts_in=f"House of {name}",
            )
            for number, name in enumerate(names)
        ),
        models=ModelRoles(reason="scripted", embed="scripted"),
    )


def town_of_ten(ticks: int) -> World:
    """W3: five clients, their counselor, four laypeople; a house for each, four public places, all settings as they are by default."""
    people = {
        persona(file).name.split()[0]: persona(file) for file in (*CLIENTS, COUNSELOR, *LAYPEOPLE)
    }
    counselor = persona(COUNSELOR).name.split()[0]
    clients = [name for name, one in people.items() if one.role == "client"]
    friends = [name for name, one in people.items() if one.role == "layperson"]
    rooms = (
        ("Bedroom", "bedroom"),
        ("Kitchen", "kitchen"),
        ("Living Room", "living room"),
        ("Garden", "garden"),
    )
    houses = tuple(
        Place(
            name=f"{name}'s House",
            places=tuple(
                Place.model_validate({"name": f"{name}'s {room}", "kind": kind})
                for room, kind in rooms
            ),
        )
        for name in people
    )
    public = (
        Place(name="Willow Park", kind="park"),
        Place(name="Market", kind="market"),
        Place(name="Cafe", kind="cafe"),
        Place(name="Counseling Center", kind="counseling center"),
    )
    return World(
        name="W3",
        start=START,
        ticks=ticks,
        places=(*houses, *public),
        residents=tuple(
            ResidentSpec(
                name=name, persona=one, home=f"{name}'s House", starts_in=f"{name}'s Bedroom"
            )
            for name, one in people.items()
        ),
        appointments=tuple(
            Appointment(
                who=(client, counselor), days=(0,), at=f"{9 + number}:00", place="Counseling Center"
            )
            for number, client in enumerate(clients)
        ),
        relationships=(
            *(Relationship(between=(client, counselor), score=4) for client in clients),
            *(Relationship(between=pair, score=6) for pair in zip(clients, friends, strict=False)),
        ),
        models=ModelRoles(embed="scripted"),
    )


class Plodder:
    """A mind that plans without asking, and in each tick recalls, asks once and drafts one memory.

    A step whose request failed drafts nothing: it is lost, and the log's `warned` has to say why.
    """

    def __init__(self, resident: Resident) -> None:
        self.resident = resident

    def arrive(self, scene: Scene) -> Ask[Effects]:
        """Nothing."""
        return Effects()
        yield

    def plan(self, scene: Scene) -> Ask[Effects]:
        """Something else in each tick, so that each tick brings news."""
        minutes = range(
            scene.minute, scene.minute + PLANNED_SLOTS * scene.tick_minutes, scene.tick_minutes
        )
        slots = tuple(
            Slot(
                minute=m,
                activity=f"works on piece {m // scene.tick_minutes}",
                activity_kind="work",
                place=self.resident.place,
            )
            for m in minutes
        )
        return Effects(events=(Scheduled(who=self.resident.name, slots=slots),))
        yield

    def appraise(self, scene: Scene) -> Ask[Effects]:
        """Recall, ask, remember."""
        recalled, reply = yield from self._say(
            scene, "appraise", f"{self.resident.name} {self.resident.activity}.", 0
        )
        if reply.value is None:
            return Effects(events=(recalled,))
        text = f"{self.resident.name} {self.resident.activity}: {reply.value}"
        memory = Memory(
            id="",
            type="event",
            text=text,
            emotion="joy",
            intensity=3,
            poignancy=3,
            place=self.resident.place,
            origin="own act",
        )
        return Effects(events=(recalled,), drafts=(memory,))

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        """Recall what the other's line brings to mind, ask for one's own."""
        heard = view.heard.text if view.heard else f"{view.other} at {view.meeting.place}"
        recalled, reply = yield from self._say(scene, "speak", heard, len(view.lines))
        line = LineAnswer(
            say=reply.value or "I don't know.", emotion="neutral", intensity=2, poignancy=2
        )
        return Spoken(line=line, emphasis=None, source=reply.source, events=(recalled,))

    def take_away(self, scene: Scene, view: TalkView) -> Ask[Effects]:
        """Nothing but the lines."""
        return Effects()
        yield

    def reflect(self, scene: Scene, trigger: str) -> Ask[Effects]:
        """Nothing."""
        return Effects()
        yield

    def replan(self, scene: Scene, why: str) -> Ask[Effects]:
        """Nothing."""
        return Effects()
        yield

    def _say(
        self, scene: Scene, purpose: str, query: str, number: int
    ) -> Ask[tuple[Recalled, Reply]]:
        recalled = yield from recollect(self.resident, scene, purpose, query)
        prompt = f"What comes to mind:\n{bullets(self.resident.memory.texts(recalled.hits))}\n\n{query}\nSay one sentence about it."
        reply = yield from ask(
            Question(
                verb="write",
                purpose=purpose,
                who=self.resident.name,
                system=whoami(self.resident),
                prompt=prompt,
                seed=seed_of(scene.seed, scene.tick, self.resident.name, purpose, number),
                max_tokens=60,
                fallback=None,
            )
        )
        return recalled, reply
