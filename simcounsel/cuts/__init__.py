"""Surgical forks: one thing is cut in people from a tick on, and everything else goes on.

`fork RUN --at T --do freeze:beliefs=Ines`, and `do:` of an experiment's condition. A cut person has
a mind around their own one (`mind: cut:...`); what it withholds is in the log as `cuts.made`.
"""
