"""The audit of a training's folder: its data read again, its adapter scored with and without, the
attacks run.

Replies of a model to the beginnings of sessions, to be compared with what was really said.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peft import PeftModel

from simcounsel.corpus.dialogues import Dialogue
from training.audit import bounds, exposing, planting
from training.audit.attacking import Beside, ModelView, audit
from training.audit.findings import AuditReport, Model
from training.audit.memorization import Continuation, Embed, Likeness, likeness
from training.audit.scored import Scored, Words
from training.audit.scores import ATTACKS, Attack
from training.audit.scoring import encoded, evaluating, score, score_base
from training.errors import TrainingError
from training.federation import state as on_disk
from training.federation.all_rounds import ROUNDS
from training.federation.state import ServerState
from training.learning.base import load_for
from training.learning.examples import TEACHING, template
from training.learning.folder import ADAPTER, TrainingFolder, data_of
from training.learning.quiet import quietly
from training.learning.result import write_peft
from training.sites import Sites, find

LONGEST = 64
"""Tokens of a reply, the true one and the model's."""


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """A session up to one of the counselor's turns."""

    id: str
    client: str
    ids: tuple[int, ...]
    """Tokens, the sign that a reply begins at the end."""
    truth: str
    """That turn."""


def beginnings(
    dialogue: Dialogue, tokenizer: Any, max_tokens: int, many: int = 1
) -> list[Beginning]:
    """`many` of a session, spread evenly over the counselor's turns; fewer if it has fewer. What
    is longest ago is dropped until the tokens fit, and the truth is cut to the length of a reply.
    """
    chat = TEACHING.chat(dialogue)
    turns = [at for at, message in enumerate(chat) if message.learned]
    chosen = (
        sorted({turns[(2 * number + 1) * len(turns) // (2 * many)] for number in range(many)})
        if turns
        else []
    )
    system = {"role": "system", "content": TEACHING.system_of(dialogue)}
    found = []
    for at in chosen:
        start = 0
        while True:
            rows = [
                {"role": message.role, "content": message.text.strip()}
                for message in chat[start:at]
            ]
            ids = tokenizer(
                template(tokenizer, [system, *rows], reply=True), add_special_tokens=False
            )["input_ids"]
            if len(ids) <= max_tokens or start + 2 >= at:
                break
            start += 2
        reply = tokenizer(chat[at].text.strip(), add_special_tokens=False)["input_ids"][:LONGEST]
        found.append(
            Beginning(
                id=dialogue.id,
                client=dialogue.client,
                ids=tuple(ids[-max_tokens:]),
                truth=tokenizer.decode(reply),
            )
        )
    return found


def complete(
    model: Any,
    tokenizer: Any,
    begun: Sequence[Beginning],
    *,
    at_once: int = 4,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Continuation]:
    """The model's reply to each, in order: the likeliest word each time. Padded on the left, with
    the mask.
    """
    made: dict[int, str] = {}
    order = sorted(range(len(begun)), key=lambda at: len(begun[at].ids))
    with evaluating(model), torch.inference_mode():
        for start in range(0, len(order), at_once):
            chosen = order[start : start + at_once]
            replies = _together(model, tokenizer, [begun[at].ids for at in chosen])
            made.update(zip(chosen, replies, strict=True))
            if on_progress:
                on_progress(min(start + at_once, len(order)), len(order))
    return [
        Continuation(id=one.id, client=one.client, truth=one.truth, made=made[at])
        for at, one in enumerate(begun)
    ]


def _together(model: Any, tokenizer: Any, begun: Sequence[Sequence[int]]) -> list[str]:
    """The replies of one batch."""
    longest = max(map(len, begun))
    gaps = [longest - len(ids) for ids in begun]
    device = next(model.parameters()).device
    ids = [[tokenizer.pad_token_id] * gap + list(one) for gap, one in zip(gaps, begun, strict=True)]
    mask = [[0] * gap + [1] * (longest - gap) for gap in gaps]
    replies = model.generate(
        input_ids=torch.tensor(ids, device=device),
        attention_mask=torch.tensor(mask, device=device),
        max_new_tokens=LONGEST,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        do_sample=False,
    )[:, longest:]
    return [tokenizer.decode(reply, skip_special_tokens=True).strip() for reply in replies]


OnProgress = Callable[[str, int, int], None]
HELD_OUT = "held out"
DELTA = 1e-5
"""Of the one-run audit where the training states none."""


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """What may be chosen."""

    attacks: tuple[Attack, ...] = ATTACKS
    words: Words = "counselor"
    bootstrap: int = 1000
    most: int = 200
    """Sessions of members, and of others, that are looked at; as whole clients, drawn by the seed.
    """
    memorization: bool = False
    """Let both models go on from `turns` places of each session."""
    turns: int = 1
    embed: Embed | None = None
    """For the cosine; None leaves it out."""
    canaries: Path | None = None
    """The file that `training plant` wrote beside the corpus."""
    candidates: int = exposing.SAMPLE
    """Of each form that they are ranked among."""
    seed: int = 0
    at_once: int = 4
    round: int | None = None
    """Of a federation: the adapter after this round, by what was paid until then; None: the
    result."""


@dataclass(frozen=True, kw_only=True)
class Sides:
    """Sessions that were trained on and sessions of clients who were not; every id once."""

    members: tuple[Dialogue, ...]
    others: tuple[Dialogue, ...]

    @property
    def all(self) -> tuple[Dialogue, ...]:
        """Members first."""
        return (*self.members, *self.others)


def audit_training(
    path: Path, options: AuditOptions, on_progress: OnProgress = lambda what, done, of: None
) -> AuditReport:
    """Audit what `training tune` or `training federate` wrote. TrainingError when it is not
    finished, its corpus or base has changed, or nobody was held out; with a round, when there is
    no such round.
    """
    folder = TrainingFolder.open(path)
    state = _after_round(path, options.round) if options.round is not None else None
    if state is None and not (path / ADAPTER / "adapter_config.json").is_file():
        raise TrainingError(
            f"{path}: has no {ADAPTER}/: the training has not ended; go on with it first"
        )
    sites = read_again(folder)
    sides = sides_of(sites, options)
    model, tokenizer = load_trained(folder, state)
    audited = _Audited(
        sides=sides,
        model=model,
        tokenizer=tokenizer,
        max_tokens=folder.recipe().learning.max_tokens,
        options=options,
        on_progress=on_progress,
    )
    trained = audited.seen(score, "scoring with the adapter")
    base = audited.seen(score_base, "scoring without it")
    beside = _beside(audited, sites, folder.manifest()["account"])
    on_progress("attacking", 0, 1)
    return audit(
        trained,
        base,
        bound_of(folder, sites, state.charged if state else None),
        attacks=options.attacks,
        words=options.words,
        bootstrap=options.bootstrap,
        seed=options.seed,
        beside=beside,
    ).model_copy(update={"round": options.round})


def _after_round(path: Path, round: int) -> ServerState:
    """TrainingError names the rounds that there are."""
    there = sorted(one.name for one in (path / ROUNDS).glob("[0-9]*"))
    if f"{round:04d}" not in there:
        found = f"there are {int(there[0])} to {int(there[-1])}" if there else "it has no rounds"
        raise TrainingError(f"{path}: no round {round} to audit; {found}")
    return on_disk.from_folder(path / ROUNDS / f"{round:04d}")[0]


@dataclass(frozen=True, kw_only=True)
class _Audited:
    """The trained model, and the sessions that it is asked about."""

    sides: Sides
    model: Any
    """With its adapter, which may be off for a while."""
    tokenizer: Any
    max_tokens: int
    """Of one sequence, as in the training."""
    options: AuditOptions
    on_progress: OnProgress

    def scored(self, score_by: Any, dialogues: Sequence[Dialogue], what: str) -> list[Scored]:
        """The sessions as one model sees them. score_by: with the adapter or without."""
        every = encoded(dialogues, self.tokenizer, self.max_tokens, self.options.words)
        return list(
            score_by(
                self.model,
                every,
                at_once=self.options.at_once,
                padding=self.tokenizer.pad_token_id or 0,
                on_progress=lambda done, of: self.on_progress(what, done, of),
            )
        )

    def seen(self, score_by: Any, what: str) -> ModelView:
        """Both sides."""
        found = self.scored(score_by, self.sides.all, what)
        border = len(self.sides.members)
        return ModelView(members=found[:border], others=found[border:])

    def replies(self) -> dict[Model, tuple[Likeness, ...]]:
        """How alike both models' replies are to those of the sessions."""
        found = self._alike("replying with the adapter")
        with self.model.disable_adapter():
            return {"trained": found, "base": self._alike("replying without it")}

    def _alike(self, what: str) -> tuple[Likeness, ...]:
        options = self.options
        inside, outside = (
            complete(
                self.model,
                self.tokenizer,
                [start for one in side for start in self._beginnings(one)],
                at_once=options.at_once,
                on_progress=lambda done, of: self.on_progress(what, done, of),
            )
            for side in (self.sides.members, self.sides.others)
        )
        return likeness(
            inside, outside, embed=options.embed, bootstrap=options.bootstrap, seed=options.seed
        )

    def _beginnings(self, one: Dialogue) -> list[Beginning]:
        return beginnings(one, self.tokenizer, self.max_tokens, self.options.turns)


def _beside(audited: _Audited, sites: Sites, account: Mapping[str, Any] | None) -> Beside:
    """What the options ask for beside attacks. account: of the training; None without privacy."""
    options = audited.options
    likeness = audited.replies() if options.memorization else {}
    if options.canaries is None:
        return Beside(likeness=likeness)
    canaries = planting.read(options.canaries)
    exposing.check(canaries, [one for here in sites.sessions.values() for one in here])
    with_it = partial(audited.scored, score, what="scoring canaries")
    without = partial(audited.scored, score_base, what="scoring canaries")
    return Beside(
        likeness=likeness,
        one_run=exposing.one_run(
            canaries, with_it, without, account["delta"] if account else DELTA, options.seed
        ),
        exposed=exposing.exposed(canaries, with_it, options.seed, options.candidates),
        stated_epsilon=account["epsilon"] if account and account["unit"] != "site" else None,
    )


def sides_of(sites: Sites, options: AuditOptions) -> Sides:
    """Members and others, at most `options.most` of each, without canaries. TrainingError if nobody
    was held out.
    """
    if not sites.held_out:
        raise TrainingError(
            "nobody was held out, so there is nobody to compare with; train with `held_out` above 0"
        )
    inside = [
        (name, one) for name, here in sites.sessions.items() for one in here if not one.canary
    ]
    outside = [(HELD_OUT, one) for one in sites.held_out]
    return Sides(
        members=_some(_named(inside), options.most, options.seed),
        others=_some(_named(outside), options.most, options.seed),
    )


def _named(dialogues: Sequence[tuple[str, Dialogue]]) -> list[Dialogue]:
    """With ids that are unique over sites."""
    seen: Counter[str] = Counter()
    made = []
    for site, one in dialogues:
        name = f"{site}/{one.id}"
        seen[name] += 1
        made.append(
            one.model_copy(update={"id": name if seen[name] == 1 else f"{name}#{seen[name]}"})
        )
    return made


def _some(dialogues: Sequence[Dialogue], most: int, seed: int) -> tuple[Dialogue, ...]:
    """All sessions of clients drawn until there are enough; a client with more is cut only if there
    would be none.
    """
    if len(dialogues) <= most:
        return tuple(dialogues)
    sizes = Counter(one.client for one in dialogues)
    chosen: set[str] = set()
    taken = 0
    for at in np.random.default_rng([seed, 0x50E]).permutation(len(sizes)):
        client = sorted(sizes)[at]
        if taken + sizes[client] <= most:
            chosen.add(client)
            taken += sizes[client]
    return tuple(one for one in dialogues if one.client in chosen) or tuple(dialogues[:most])


def read_again(folder: TrainingFolder) -> Sites:
    """The data of a training as its recipe finds them now. TrainingError if they are not those that
    were trained on.
    """
    manifest = folder.manifest()
    sites = find(
        folder.recipe(), Path(manifest["recipe_file"]), together=manifest["kind"] == "tune"
    )
    now = data_of(sites, drafts=folder.recipe().learning.by_pairs)["hash"]
    then = manifest["data"]["hash"]
    if now != then:
        raise TrainingError(
            f"{folder.path}: its corpus has changed since the training (hash {now[:12]}, then"
            f" {then[:12]}), so who was trained on is not known any more; bring back"
            f" {folder.recipe().corpus or 'the folders'} as it was"
        )
    return sites


def load_trained(folder: TrainingFolder, state: ServerState | None = None) -> tuple[Any, Any]:
    """The base with the trained adapter on it, or that of a state between rounds, and its
    tokenizer. TrainingError if the base is another one by now.
    """
    recipe, manifest = folder.recipe(), folder.manifest()
    base = load_for(recipe.base, recipe.learning, recipe.device)
    then = manifest["base"]["digest"]
    if then and base.digest != then:
        raise TrainingError(
            f"{folder.path}: base {recipe.base!r} has changed since the training; bring back the"
            f" one with digest {then[:12]}"
        )
    with quietly(), tempfile.TemporaryDirectory() as place:
        adapter = folder.path / ADAPTER
        if state is not None:
            adapter = Path(place)
            write_peft(adapter, manifest, state.weights, state.shift)
        return PeftModel.from_pretrained(base.model, str(adapter)).eval(), base.tokenizer


def bound_of(
    folder: TrainingFolder, sites: Sites, charged: int | None = None
) -> bounds.Bound | None:
    """What the account of the training implies for one client with all sessions; None without
    privacy. charged: rounds that were paid for so far; None: all.
    """
    account = folder.manifest()["account"]
    plan = folder.recipe().plan(sites.counted())
    if account is None or plan is None:
        return None
    sessions = Counter(one.client for here in sites.sessions.values() for one in here)
    plan = plan if charged is None else plan.model_copy(update={"rounds": charged})
    return bounds.of_plan(plan, account["noise_multiplier"], max(sessions.values()))
