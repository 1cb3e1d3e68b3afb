"""Train, validation and test: by client, never by turn or dialogue.

A client's split is drawn from a hash of the seed and the client's name, and of nothing else: adding
a client, a dialogue or a source moves no other client, and whoever takes the same seed gets the
same split. So the shares hold in the long run only; of few clients a split may get none. Two
spellings of one name (capitals, accents written as one or two characters, spaces around it) are one
client.

Most formats that trainers read do not hold who the client is. Dealt again, row by row, such an
export would bring one client into train and test. So dialogues of unknown clients stay in the split
that they were in, as soon as any of them was held out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import normalize

from simcounsel.chance import seed_of
from simcounsel.corpus.dialogues import Dialogue, Split
from simcounsel.errors import CorpusError

SPLITS: tuple[Split, ...] = ("train", "validation", "test")


@dataclass(frozen=True, kw_only=True)
class Shares:
    """How much of the clients each split gets, in any unit."""

    train: float = 80
    validation: float = 10
    test: float = 10

    @classmethod
    def parse(cls, words: str) -> "Shares":
        """Of '80,10,10'. CorpusError when that is not three numbers of 0 or more, of which one is
        not 0.
        """
        try:
            train, validation, test = (float(word) for word in words.split(","))
        except ValueError:
            raise CorpusError(
                f"--split {words}: not three numbers; write the shares of train, validation and"
                " test, such as 80,10,10"
            ) from None
        if (
            not all(0 <= share < float("inf") for share in (train, validation, test))
            or train + validation + test == 0
        ):
            raise CorpusError(
                f"--split {words}: shares are 0 or more, and not all 0, such as 80,10,10"
            )
        return cls(train=train, validation=validation, test=test)

    def __str__(self) -> str:
        return f"{self.train:g},{self.validation:g},{self.test:g}"

    def of(self, split: Split) -> float:
        """The share of one split."""
        return {"train": self.train, "validation": self.validation, "test": self.test}[split]


def split_of(client: str, shares: Shares, seed: int) -> Split:
    """The split of a client."""
    drawn = (
        seed_of("split", seed, _spelled(client))
        / 2**63
        * (shares.train + shares.validation + shares.test)
    )
    if drawn < shares.train:
        return "train"
    return "validation" if drawn < shares.train + shares.validation else "test"


def _spelled(client: str) -> str:
    return normalize("NFC", normalize("NFC", client).strip().casefold())


def split_dialogues(
    dialogues: Iterable[Dialogue], shares: Shares, seed: int
) -> tuple[Dialogue, ...]:
    """The dialogues, each with its client's split. What they were in before is forgotten, but for
    the unknown clients of an earlier split.
    """
    listed = tuple(dialogues)
    held_out = any(one.client_unknown and one.split in ("validation", "test") for one in listed)
    return tuple(
        (
            one
            if held_out and one.client_unknown and one.split
            else one.model_copy(update={"split": split_of(one.client, shares, seed)})
        )
        for one in listed
    )
