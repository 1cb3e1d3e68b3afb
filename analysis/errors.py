"""What keeps a report from being made."""

from simcounsel.errors import SimcounselError


class ReportError(SimcounselError):
    """A report cannot be made; the text says why and what to do."""
