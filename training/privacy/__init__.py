"""Privacy, counted before it is spent: mechanisms (`gaussian`, `releases`), a plan's account, and
how it is told.
"""
