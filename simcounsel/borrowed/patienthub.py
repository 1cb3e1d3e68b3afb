"""Published simulators of clients out of PatientHub as minds: `mind: patienthub:patientAct`.

PatientHub (Sahandfer/PatientHub, MIT) is installed by the user; nothing of it is here. A simulator
says a client's lines. Every call of its model is a question to the world's model, so that it is
logged, paid from the budget and answered from the record. What it remembers is written after each
line, so that resume and fork go on where it was. Its days are lived as anybody's, and it does not
know of them.
"""

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Literal

from pydantic import JsonValue

from simcounsel.agents.mind import Scene, Spoken
from simcounsel.agents.person import Person
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import plain_line
from simcounsel.borrowed.bridge import Seeds, Send, Unanswered, bridged, schema_of
from simcounsel.borrowed.profiles import FORMS, profile_for
from simcounsel.borrowed.state import Built, Form, difference, together
from simcounsel.disk import write_text
from simcounsel.errors import PluginError, SpecError
from simcounsel.events import Data
from simcounsel.llm.question import Ask, Message, PromptOnly, Question
from simcounsel.secret import remember_environment
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.residents import ResidentSpec

PACKAGE = "patienthub"
_NAMED = re.compile(r"patienthub:(?P<name>\w+)(?:/(?P<own>\d+))?")
"""With a number: not our client, but that one of the simulator's own characters, from 0."""
NOT_STATE = frozenset({"configs", "data", "prompts", "chat_model", "therapist"})
MOST_TOKENS = 1024


class SimulatorSaid(Data):
    """A line of a simulator, and what it remembers after it."""

    kind: Literal["borrowed.said"] = "borrowed.said"
    who: str
    chat: str
    simulator: str
    """Its name in PatientHub."""
    character: str
    """Whom it plays: `ours`, or the number of one of its own characters."""
    state: JsonValue
    """What it remembers that it did not before: what is set, put behind a list, or gone."""
    problem: str | None = None
    """Why it said nothing; None where it said something."""
    calls: tuple[str, ...] = ()


class PatientHubMind(Person):
    """See `Mind`."""

    beyond_cuts = frozenset({"block", "scramble", "say", "freeze:openness"})
    """What it remembers is its own: nothing can be taken out of it, or put into it."""

    def __init__(self, resident: Resident) -> None:
        """Errors as `check`."""
        super().__init__(resident)
        self._simulator = _simulator(resident.spec, resident.language)

    @staticmethod
    def check(spec: ResidentSpec) -> None:
        """SpecError where `mind` names no simulator, or the resident is no client; PluginError
        where PatientHub is not installed.
        """
        _simulator(spec, "en")

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        """Its next line. The counselor begins; where it says nothing, the conversation ends."""
        if view.heard is None:
            own = replace(decision, events=(), calls=())
            return Spoken(
                line=plain_line(""), emphasis=None, source="chosen", decision=own, waits=True
            )
        before = together(one.state for one in view.written(SimulatorSaid))
        model = _Model(view)
        key = view.asks(PACKAGE)["seed"]
        text, state, problem = yield from bridged(
            partial(self._simulator.answer, model, view.heard.text, view.other, before), key
        )
        event = SimulatorSaid(
            who=view.me,
            chat=view.chat,
            simulator=self._simulator.name,
            character=self._simulator.own or "ours",
            state=state,
            problem=problem,
            calls=tuple(model.calls),
        )
        return Spoken(
            line=plain_line(text, leaves=view.parting),
            emphasis=None,
            source="generated",
            events=(event,),
            calls=tuple(model.calls),
            fallback=problem is not None,
            silent=not text,
        )


def _simulator(spec: ResidentSpec, language: str) -> "Simulator":
    where = f"residents.{spec.name}.mind"
    named = _NAMED.fullmatch(spec.mind or "")
    if named is None:
        told = "write patienthub:NAME, or patienthub:NAME/0 for one of its own"
        raise SpecError([f"{where}: {told}"])
    if not isinstance(spec.persona, ClientPersona):
        raise SpecError([f"{where}: PatientHub has clients, and this is a {spec.role}"])
    return Simulator.named(named["name"], named["own"], spec.persona, language, where)


@dataclass(frozen=True, kw_only=True)
class Simulator:
    """One simulator with the client that it plays."""

    name: str
    own: str | None
    """The number of one of its own characters; None: `profile`."""
    profile: Any
    """Our client in the simulator's form."""
    language: str

    @classmethod
    def named(
        cls, name: str, own: str | None, persona: ClientPersona, language: str, where: str
    ) -> "Simulator":
        """SpecError and PluginError as `PatientHubMind.check`."""
        known = _clients().CLIENT_REGISTRY
        if name not in known:
            raise SpecError([f"{where}: PatientHub has no {name!r}; {', '.join(sorted(known))}"])
        if name == "user":
            raise SpecError([f"{where}: user is somebody at the keyboard; that is --human here"])
        if own is None and name.lower() not in FORMS:
            raise SpecError(
                [
                    f"{where}: a client of ours cannot be put into the form of {name}; write"
                    f" patienthub:{name}/0 for the first of its own characters"
                ]
            )
        profile = None if own else profile_for(persona, name.lower()).data
        return cls(name=name, own=own, profile=profile, language=language)

    def answer(
        self, model: "_Model", heard: str, other: str, before: Form, send: Send
    ) -> tuple[str, JsonValue, str | None]:
        """Its line ('' for none), what is new in what it remembers, and why it said nothing."""
        model.send = send
        client = self._built(model)
        try:
            built = Built(client, NOT_STATE, PACKAGE)
            built.put_back(before)
            client.set_therapist(_Therapist(name=other))
            reply = client.generate_response(heard)
            new = difference(before, built.changed())
        except Unanswered as error:
            return "", {}, str(error)
        except Exception as error:
            raise PluginError(
                f"{self.name} of PatientHub failed: {type(error).__name__}: {error}"
            ) from error
        text = reply if isinstance(reply, str) else getattr(reply, "content", None)
        if not isinstance(text, str):
            raise PluginError(f"{self.name} answered with a {type(reply).__name__} without content")
        return text.strip(), new, None if text.strip() else "it said nothing"

    def _built(self, model: "_Model") -> Any:
        """The simulator as it is at first; its calls go to the world's model from the beginning."""
        hub = _clients()
        of = hub.CLIENT_REGISTRY[self.name]
        ours = type(
            of.__name__, (of,), {"load_chat_model": lambda _: model, "__module__": of.__module__}
        )
        configs = hub.get_client_config(self.name)
        configs.lang = self.language
        for name, value in vars(configs).items():
            if isinstance(value, str) and "/" in value:
                setattr(configs, name, _in_its_folder(value, hub))
        with tempfile.TemporaryDirectory() as folder:
            if self.own is None:
                file = Path(folder) / "client.json"
                write_text(file, json.dumps([self.profile], ensure_ascii=False))
                configs.data_path, configs.data_idx = str(file), 0
            else:
                configs.data_idx = int(self.own)
            try:
                made = ours(configs=configs)
                made.chat_model = model  # where it asked for one in another way
                return made
            except (OSError, ValueError, LookupError, TypeError) as error:
                raise PluginError(
                    f"PatientHub could not make {self.name}: {type(error).__name__}: {error}"
                ) from error


def _clients() -> ModuleType:
    try:
        found = import_module(f"{PACKAGE}.clients")
    except ModuleNotFoundError as error:
        raise PluginError(
            f"PatientHub is not installed here ({error}); get it from"
            " https://github.com/Sahandfer/PatientHub and install it beside simcounsel"
            " (`pip install -e PatientHub`)"
        ) from None
    remember_environment()  # it reads keys of its own, which no log is to hold
    return found


def _in_its_folder(path: str, hub: ModuleType) -> str:
    """Its own files lie beside its package, wherever simcounsel is started."""
    beside = Path(str(hub.__file__)).parents[2] / path
    return str(beside) if not Path(path).is_absolute() and beside.exists() else path


class _Therapist(dict[str, str]):
    """The other, as editions of PatientHub read it: `name`, or `get("name")`."""

    @property
    def name(self) -> str:
        """What the other is called."""
        return self["name"]


class _Model:
    """What a simulator takes for its chat model: `generate(messages, response_format)`."""

    send: Send

    def __init__(self, view: TalkView) -> None:
        self._view = view
        self._seeds = Seeds()
        self.calls: list[str] = []

    def generate(self, messages: Any, response_format: Any = None, **_: object) -> Any:
        """The model's message, or its answer in the form that is asked for. Unanswered where the
        model gave none.
        """
        system, talk, prompt = _parts(messages)
        schema, unwrapped = schema_of(response_format) if response_format else (None, None)
        key = self._seeds.key(json.dumps([messages, str(response_format)], default=str))
        question: Question[Any] = Question(
            verb="fill" if schema else "write",
            **self._view.asks(PACKAGE, *key),
            system=system,
            talk=talk,
            prompt=prompt,
            schema=schema,
            facts=PromptOnly(),
            fallback=None if schema else "",
            max_tokens=MOST_TOKENS,
        )
        reply = self.send(question)
        self.calls += [reply.call] if reply.call else []
        if reply.problem or reply.value is None:
            raise Unanswered(reply.problem or "no answer")
        if unwrapped is not None:
            return unwrapped(reply.value)
        return SimpleNamespace(content=reply.value, role="assistant")

    def get_usage(self) -> Mapping[str, float]:
        """Nothing: simcounsel's own accounts have it."""
        return {}


Talk = tuple[tuple[Literal["user", "assistant"], str], ...]


def _parts(messages: list[Message]) -> tuple[str, Talk, str]:
    """System text, what was said before, and what is to be answered. Where there are system
    messages alone, they are what is to be answered, since some servers want a user's message.
    """
    told = [(str(one["role"]), _text(one["content"])) for one in messages]
    system = "\n\n".join(text for role, text in told if role == "system")
    others = [one for one in told if one[0] != "system"]
    if not others:
        return "", (), system
    last = others.pop()[1] if others[-1][0] == "user" else ""
    talk: Talk = tuple(
        ("assistant" if role == "assistant" else "user", text) for role, text in others
    )
    return system, talk, last


def _text(content: Any) -> str:
    """A message's text, which may come in parts."""
    if isinstance(content, list):
        return "".join(str(one.get("text", "")) for one in content if isinstance(one, dict))
    return str(content or "")


MIND = PatientHubMind
