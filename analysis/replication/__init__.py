"""Published studies done again: plan, runs, ratings, and their tables with ours beside them.

A study here is an experiment of simcounsel's (`designs/`), the published numbers (`published/`),
and what makes tables of the same shape out of the runs. Nothing of the papers' own texts, prompts
or instruments is used.
"""
