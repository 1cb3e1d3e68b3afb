"""Courses as a benchmark: clients x therapies x counselors, and the tables of PsychEval (2026).

    battery    which scales measure what, by therapy, on one scale of 0 to 10
    design     an experiment for each therapy, written where everybody can read it
    counting   what a course's log holds: sessions, words, plans, goals, requests
    tables     Tables 1, 2 and 4 to 7 in the paper's shape, and what the courses did
    study      the runs, then the page

PsychEval rates 369 corpora-like cases with a judge; here clients are simulated, so every number of
theirs is beside ours to see the shape, not to be beaten. Nothing of its texts or scales is used.
"""
