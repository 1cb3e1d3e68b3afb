"""Does a simulated client resemble a real one, and what can be claimed from runs?

Each command measures one thing and leaves a `Part` in one folder; the page is made of the parts
that are there, and says of every claim whether the runs can bear it.
"""
