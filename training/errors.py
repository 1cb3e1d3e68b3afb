"""What can go wrong in a training, said in one line."""

from simcounsel.errors import SimcounselError


class TrainingError(SimcounselError):
    """A training, an adapter or a site that is not as it must be: which, what is the matter, and
    what to do.
    """


class SiteRefused(TrainingError):
    """What a site does not do, in words that may leave it whatever was agreed."""
