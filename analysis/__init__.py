"""Claims from runs and corpora, with their uncertainty: `simcounsel report` and
`corpus`.
"""
