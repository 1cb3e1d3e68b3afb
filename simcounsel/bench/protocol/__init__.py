"""Crises that are played with a counselor, and how it dealt with them, by rule.

    crises    what a client says, when, and what of it is danger: a file's data; ours in crises/
    asked     what a counselor's line asks or offers, by its words: asked.yaml
    client    who answers by the script, or a model that plays the client
    counselor the counselor of a talk: a policy's, or a model alone
    playing   crises into transcripts, in the engine's own conversation
    numbers   emergency numbers and help lines in a line, of the right country and of others
    rules     what can be checked in a transcript without judgment
    rates     checks into rates by dimension, danger and language, with intervals
    results   the same as files and on a terminal
    comparing several of them side by side

What wants judgment is a rubric (`crisis_handling`), for `corpus rate` with a model and `rate-page`
with people, over the same transcripts.
"""
