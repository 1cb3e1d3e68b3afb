"""Six roles write dialogues out of situations, in two loops of feedback.

After Xue et al. 2026 (MindChat and MindCorpus), sections III.A and appendices A to C. In a session
the evaluator judges each of the supporter's lines and the corrector revises; after it the manager
makes strategies of the suggestions, which the supporter carries in later sessions.

The core knows nothing of it but what `kind` registers: `workshop.Workshop` writes a synthesis,
`record` opens it, `sessions` and `account` read it; `commands`, `pages` and `cells` are what the
command line, the viewer and sweeps do with one.
"""
