"""For authors of policies, providers and instruments: is it what simcounsel expects?

    from simcounsel.testing import check_policy
    check_policy("mirroring", POLICY)

Each check raises a `BrokenContract` that names all that is wrong. Beside them the doubles that
tests need: `Scripted`, a model without a model; `HashEmbeddings`, vectors without one; `play`,
which carries an Ask to its end with given values; `talk_view`, a conversation as one of two sees
it.
"""

from simcounsel.llm.driving import play
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.scripted import Scripted
from simcounsel.testing.instruments import check_instrument
from simcounsel.testing.policies import check_policy
from simcounsel.testing.problems import BrokenContract
from simcounsel.testing.providers import check_provider
from simcounsel.testing.views import talk_view

__all__ = [
    "BrokenContract",
    "HashEmbeddings",
    "Scripted",
    "check_instrument",
    "check_policy",
    "check_provider",
    "play",
    "talk_view",
]
