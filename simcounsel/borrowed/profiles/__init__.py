"""Profiles of simulated clients in the forms of others: Patient-Psi, Eeyore, Cactus, VERA-MH.

Each form is a table in forms.yaml, read and written by one mapper. What a form cannot hold is
named, and so is what was filled in. Of the forms there are facts only: names of
fields, and their types.
"""

from simcounsel.borrowed.profiles.forms import FORMS
from simcounsel.borrowed.profiles.translating import personas_from
from simcounsel.borrowed.profiles.writing import Translated, profile_for

__all__ = ["FORMS", "Translated", "personas_from", "profile_for"]
