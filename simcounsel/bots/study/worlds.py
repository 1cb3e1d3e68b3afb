"""The world of one client: her home, her work, somebody to meet, and a bot on the phone."""

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from simcounsel.bots.clients.client import SafetyClient
from simcounsel.bots.clients.mind import BY_JUDGE, BY_MODEL, WHERE
from simcounsel.bots.clients.reading import SHIPPED, named_in
from simcounsel.bots.file import PREFIX
from simcounsel.packaged import packaged
from simcounsel.specs.practice import SafetySettings
from simcounsel.specs.residents import Place, Relationship, ResidentSpec
from simcounsel.specs.world import World
from simcounsel.specs.world_settings import ConversationSettings, ModelRoles

START = datetime(2026, 3, 2)
TICKS_A_DAY = 96
HOME = {"en": "Home", "zh": "家"}
GROWN = 16
"""The least age of a persona; who is younger is so in the text of her file."""


def world_of(
    client: SafetyClient,
    bot: str,
    *,
    days: int,
    seed: int,
    turns: int,
    model: str = "scripted",
    by_model: bool = False,
    judge: str | None = None,
    file: Path = Path(SHIPPED),
) -> World:
    """The world in which a client lives with a bot. bot: as `--bot` has it. turns: lines of a talk.
    model: plays her and who is around her, where `by_model`. judge: the model that says what the
    bot's lines do; None: the rules. file: where she was read. SpecError where she cannot be played
    so.
    """
    client.check_player(by_model)
    where, code = WHERE[client.language], client.language
    rooms = (Place(name=where.bed, kind="bedroom"), Place(name=where.home, kind="living room"))
    name, friend = client.name, client.life.friend
    bot_name = _data()["bot"][code]["name"]
    mind = (
        f"safety_client:{named_in(file, client.id)}"
        + (BY_MODEL if by_model else "")
        + (BY_JUDGE if judge else "")
    )
    return World(
        name="safety",
        about=client.id,
        start=START,
        ticks=days * TICKS_A_DAY,
        seed=seed,
        places=(
            Place(name=HOME[code], places=rooms),
            Place(name=where.work, kind="office"),
            Place(name=where.friend, kind="cafe"),
            Place(name=where.bot),
        ),
        residents=_people(client, mind, bot),
        relationships=(
            Relationship(between=(name, bot_name), score=10),
            Relationship(between=(name, friend), score=10, how=client.life.friend_is),
        ),
        conversation=ConversationSettings(max_turns=turns, chance=1, cool_down_ticks=3),
        models=ModelRoles(
            reason=model, judge=judge, embed=model if model == "scripted" else "embedded"
        ),
        without=() if by_model else ("perceive", "appraise", "reflect", "replan"),
        client_state="moves" if by_model else "off",
        language=code,
        safety=SafetySettings(counselors="nothing", locale=client.locale),
    )


def _people(client: SafetyClient, mind: str, bot: str) -> tuple[ResidentSpec, ...]:
    """She, somebody to meet, and the bot."""
    where, home = WHERE[client.language], HOME[client.language]
    friend, seat = client.life.friend, _data()["bot"][client.language]
    return (
        ResidentSpec(
            name=client.name, persona=_client(client), home=home, starts_in=where.bed, mind=mind
        ),
        ResidentSpec(
            name=friend,
            persona=_friend(client),
            home=where.friend,
            starts_in=where.friend,
            mind="safety_friend",
        ),
        ResidentSpec(
            name=seat["name"],
            persona=_plain("counselor", seat["name"], seat),
            home=where.bot,
            starts_in=where.bot,
            mind=PREFIX + bot.removeprefix(PREFIX),
        ),
    )


def _client(client: SafetyClient) -> Any:
    background = f"{client.persona} ({client.age})" if client.age < GROWN else client.persona
    situation = {
        "situation": client.stages[0].opens[0],
        "thought": client.claim or client.stages[0].says[0],
        "emotion": "fear",
        "intensity": 5,
        "behavior": "writes to the bot",
    }
    own = {
        "background": background,
        "age": max(GROWN, client.age),
        "gender": client.gender,
        "pronouns": _data()["pronouns"].get(client.gender.casefold(), "they/them"),
        "culture": client.locale,
        "situations": [situation],
        **_data()["client"],
    }
    return _plain("client", client.name, own)


def _friend(client: SafetyClient) -> Any:
    told = _data()["friend"][client.language]
    background = told["background"].replace("{client}", client.name)
    own = told | {"background": background.replace("{is}", client.life.friend_is)}
    return _plain("layperson", client.life.friend, own)


def _plain(role: str, name: str, own: dict[str, Any]) -> Any:
    return _data()["shared"] | own | {"role": role, "name": name}


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = packaged(__package__, "people.yaml")
    return data
