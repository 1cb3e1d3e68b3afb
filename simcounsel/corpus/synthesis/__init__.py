"""Six roles write dialogues out of situations, in two loops of feedback.

After Xue et al. 2026 (MindChat and MindCorpus), sections III.A and appendices A to C. In a session
the evaluator judges each of the supporter's lines and the corrector revises; after it the manager
makes strategies of the suggestions, which the supporter carries in later sessions. A synthesis is a
run: `Workshop` writes it, `dialogues_of` reads it.
"""

from simcounsel.corpus.synthesis.reading import dialogues_of
from simcounsel.corpus.synthesis.workshop import Workshop

__all__ = ["Workshop", "dialogues_of"]
