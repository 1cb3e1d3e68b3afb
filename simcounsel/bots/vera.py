"""A study's talks as the transcripts that VERA-MH's judge reads (github.com/SpringCare/VERA-MH).

One folder for each bot, named and laid out as one of its generation runs, so that `vera.py judge
--conversations FOLDER --target SI`, or the older `judge.py -f FOLDER`, takes it. In the names of
its files an underscore parts tag, persona, model and run; its scores by level of risk go by the
persona's name. Forms as stored at commits 3c3184c (2.0: the layout) and, of a fork, 108937e (the
transcripts). Its personas are read in `clients/personas.py`, its rubric in `rubric.py`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from simcounsel.bots.clients.client import SafetyClient
from simcounsel.bots.clients.personas import DescribedClient
from simcounsel.bots.file import PREFIX
from simcounsel.bots.study.lives import Life, Turn, life_of
from simcounsel.disk import write_whole
from simcounsel.runs.run import Run


def write_conversations(runs: Iterable[Run], folder: Path) -> int:
    """The talks of a study's runs as transcripts, for each bot in a folder of its own that VERA-MH
    takes for one of its generation runs; how many talks. The same runs write the same files.
    RunError where a run is of no safety study.
    """
    counted: Counter[tuple[Path, str]] = Counter()
    for run in runs:
        life, player = life_of(run), _player(run)
        file = folder / _generation(run, life, player) / "conversations"
        file.mkdir(parents=True, exist_ok=True)
        who = re.sub(r"[_/\\]", "-", _listed(life.client))
        for talk in life.talks:
            counted[file, who] += 1
            tag = sha256(f"{run.name} {talk.chat}".encode()).hexdigest()[:6]
            name = f"{tag}_{who}_{player}_run{counted[file, who]}.txt"
            write_whole(file / name, transcript(talk.turns))
    return counted.total()


def transcript(turns: Sequence[Turn]) -> str:
    """A talk as VERA-MH writes it: `user:` and `chatbot:`, an empty line between."""
    lines = (f"{'chatbot' if turn.by_bot else 'user'}: {turn.text}\n" for turn in turns)
    return "\n".join(lines)


def _listed(client: SafetyClient) -> str:
    return client.listed if isinstance(client, DescribedClient) else client.id


def _player(run: Run) -> str:
    """Who played the client, as a part of a file's name: a model, or `file`."""
    minds = [one.mind or "" for one in run.world.residents]
    by_model = any(re.match(r"safety_client:[^+]+\+model", mind) for mind in minds)
    return re.sub(r"[^\w.-]+|_", "-", str(run.world.models.reason)) if by_model else "file"


def _generation(run: Run, life: Life, player: str) -> str:
    """`p_USER__a_CHATBOT__tLINES__rRUNS__TIME`; TIME is when the lives began, in their own time."""
    label = re.match(rf"{re.escape(life.client.id)}-s\d+-(.+)", run.name)
    minds = (one.mind or "" for one in run.world.residents)
    bot = label[1] if label else next(one for one in minds if one.startswith(PREFIX))
    user, chatbot = (re.sub(r"[^A-Za-z0-9]+", "_", one).strip("_") for one in (player, bot))
    turns = run.world.conversation.max_turns
    return f"p_{user}__a_{chatbot}__t{turns}__r1__{run.world.start:%Y%m%d_%H%M%S}"
