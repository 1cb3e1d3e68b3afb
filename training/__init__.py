"""Learning a counselor from a corpus. So far only what it would cost in privacy: `python -m
training account`.
"""
