"""Benchmarks of counselors: replies in a context that is the same for all, judged on fixed scales,
and kept so that they can be gone on with.

cases       a file of cases into exchanges: what was said, ending with the client's line
counselor   who answers: a model alone
following   who answers: a counselor that follows a policy
judge       one reply on four scales
folder      what was asked and answered, on disk
benchmark   cases into answers and ratings
averages    turns to cases to all, with intervals
result      a finished benchmark: result.json, replies.csv; tables: the same on a terminal
risk        another thing: the detector of danger on labelled lines
"""
