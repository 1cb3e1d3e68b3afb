"""Claims from runs and corpora, with their uncertainty: `python -m analysis report` and
`corpus`.
"""
