"""The recipe of a training, as a YAML file says it: what is learned from, at which sites, how, and
with which privacy.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, FiniteFloat, model_validator

from simcounsel.specs.load import Spec
from training.plan import Count, PrivacyPlan, SiteSize, TrainingPlan
from training.shipped import FOLDER

Positive = Annotated[FiniteFloat, Field(gt=0)]
Share = Annotated[FiniteFloat, Field(ge=0, lt=1)]
WITHOUT_PRIVACY = 8
"""Sessions of a step where the recipe says nothing of it."""
BOTH_PROJECTIONS = ("q_proj", "v_proj")


class Deal(Spec):
    """How one corpus is dealt to sites, always whole clients: `even`; a `theme` a site goes to as
    few sites as can be; or by `size`, shares drawn from a symmetric Dirichlet distribution with
    `alpha` (small: very unequal). By theme with as many sites as themes, each site has one.
    """

    sites: Annotated[int, Field(ge=1, le=10_000)]
    by: Literal["even", "theme", "size"] = "even"
    alpha: Positive = 1.0
    sessions: Count | None = None
    """The most that a site takes, as whole clients in the order they are dealt; the others stay
    unused.
    """


class Lora(Spec):
    """Low-rank adapters (Hu et al. 2022)."""

    rank: Annotated[int, Field(ge=1, le=1024)] = 16
    alpha: Positive = 32.0
    dropout: Share = 0.0
    targets: Annotated[tuple[str, ...], Field(min_length=1)] = BOTH_PROJECTIONS
    """Names of the linear layers that get one."""
    train: Literal["both", "b"] = "both"
    """`both` factors, or only `b` with A as it was drawn (FFA-LoRA, Sun et al. 2024)."""
    ranks: dict[str, Annotated[int, Field(ge=1, le=1024)]] = Field(default_factory=dict)
    """By site, where they differ."""


class Learning(Spec):
    """The local training."""

    objective: Literal["sft", "dpo"] = "sft"
    """`sft`: the counselor's lines; `dpo`: revised lines rather than their drafts (Rafailov et al.
    2023), for corpora whose turns have a `draft`; other sessions are left out.
    """
    beta: Positive = 0.1
    """With `dpo`: how strongly a model is held to the untouched base; larger is closer."""
    optimizer: Literal["adamw", "adamw_8bit", "sgd"] = "adamw"
    """`adamw_8bit` keeps its moments in 8 bits (Dettmers et al. 2022): a GPU and bitsandbytes."""
    learning_rate: Positive = 1e-3
    """The largest, where it changes (`schedule`, `warmup`)."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """How it falls after the warmup, over all steps of all rounds, to 0 after the last."""
    warmup: Share = 0.0
    """The share of all steps in which it rises from 0."""
    weight_decay: Annotated[FiniteFloat, Field(ge=0)] = 0.0
    max_tokens: Annotated[int, Field(ge=16, le=131_072)] = 256
    """Of one sequence; a longer session is cut between turns into several that count as one
    session.
    """
    at_once: Count | None = None
    """Sequences computed together; it changes speed and memory, not the result. None: 4 on a GPU,
    and 1 elsewhere, where 4 take three times the memory and no less time.
    """
    proximal: Annotated[FiniteFloat, Field(ge=0)] = 0.0
    """Weight of the pull towards the round's beginning (FedProx, Li et al. 2020)."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """`precision`, `quantize`: of the frozen base; 4 bit needs a GPU and bitsandbytes."""
    quantize: Literal["none", "4bit"] = "none"
    checkpointing: bool = False
    keep: Literal["last", "best"] = "last"
    """Which weights become the adapter: the last, or those with the least held-out loss."""
    patience: Count | None = None
    """Stop after so many measurements of the held-out loss without a new least one. None: never."""

    @property
    def by_pairs(self) -> bool:
        """Whether revised lines and their drafts are learned."""
        return self.objective == "dpo"


class Averaging(Spec):
    """How updates become the next weights."""

    rule: Literal["fedavg", "fedadam", "stack", "exact"] = "fedavg"
    """`fedavg` (McMahan et al. 2017), `fedadam` (Reddi et al. 2021), `stack` (unequal ranks, FLoRA,
    Wang et al. 2024), `exact` (the mean of the products BA, its residual kept; FedEx-LoRA, Singhal
    et al. 2025).
    """
    server_learning_rate: Positive = 1.0
    """How far the server goes along the update; with `fedadam`, how far each weight may move in a
    round, whatever the size of the updates, so that it must be named there (0.01 is a start).
    """
    send: Literal["fp32", "fp16", "int8"] = "fp32"
    """The numbers that travel."""
    secure: bool = False
    """The server sees only sums."""
    min_sites: Count = 1
    """Fewer answers make a round void."""
    timeout_s: Positive = 3600.0
    """After which a site counts as failed."""


class Recipe(Spec):
    """A training. Exactly one of: `corpus` (a file, a folder or `samples`), dealt to sites by
    `deal`; `folders` (a site's name and its corpus); `sites`, numbers only, for `account`.
    """

    corpus: str | None = None
    deal: Deal | None = None
    folders: dict[str, str] = Field(default_factory=dict)
    sites: tuple[SiteSize, ...] = ()
    sample: Count | None = None
    """At most this many sessions of each corpus, as whole clients drawn by the seed; for a quick
    try.
    """
    themes: tuple[str, ...] = ()
    """Train on these only; clients of all themes are held out all the same, so that trainings on
    different themes are measured on the same sessions.
    """
    base: Annotated[str, Field(min_length=1)] = "embedded"
    """`embedded`, or a Hugging Face folder or name."""
    rounds: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """`rounds`, `local_epochs`, `batch_size`: as in Plan; central tuning makes rounds times
    local_epochs passes.
    """
    local_epochs: Annotated[int, Field(ge=1, le=10_000)] = 1
    batch_size: Count | None = None
    held_out: Share = 0.2
    """The share of clients who are never trained on."""
    participation: Annotated[FiniteFloat, Field(gt=0, le=1)] = 1.0
    """Probability that a site takes part in a round (Poisson); with `privacy.unit: site` it stands
    there.
    """
    lora: Lora = Lora()
    learning: Learning = Learning()
    averaging: Averaging = Averaging()
    privacy: PrivacyPlan | None
    public_data: bool = False
    """Whether anyone may see the data, so that nobody has to be protected: for research on privacy
    itself.
    """
    noise: Literal["seeded", "secure"] = "secure"
    """Of the privacy noise: from the system's generator, which nobody can repeat; `seeded`, by whom
    the seed is known it can be taken away, is for public data only.
    """
    seed: Annotated[int, Field(ge=0)] = 1
    """Of the split, the deal, the adapters, the order, and of `seeded` noise."""
    device: Annotated[str, Field(min_length=1)] = "auto"

    @model_validator(mode="before")
    @classmethod
    def _says_privacy(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if "cells" in data:
            raise ValueError("not one training but a sweep of several: simcounsel train sweep FILE")
        if "privacy" not in data:
            raise ValueError(
                "privacy is missing: say `privacy: none`, or whom it protects and how (see"
                f" {FOLDER / 'record_dp.yaml'})"
            )
        return {**data, "privacy": None} if data["privacy"] in ("none", None) else data

    def plan(self, sites: tuple[SiteSize, ...] = ()) -> TrainingPlan | None:
        """What there is to account for, with these sites (default: the recipe's own); None without
        privacy.
        """
        if self.privacy is None:
            return None
        return TrainingPlan(
            sites=sites or self.sites,
            rounds=self.rounds,
            local_epochs=self.local_epochs,
            batch_size=self.batch_size,
            privacy=self.privacy,
        )

    @property
    def trains(self) -> Literal["session", "client", "site", "none"]:
        """What is clipped and noised: one session's or client's gradient, a site's update, or
        nothing.
        """
        if self.privacy is None:
            return "none"
        return (
            "client"
            if self.privacy.draw == "client"
            else "site"
            if self.privacy.unit == "site"
            else "session"
        )
