"""Measuring a run afterwards: ratings by a judge, what the judge is worth, questions to a
resident.
"""
