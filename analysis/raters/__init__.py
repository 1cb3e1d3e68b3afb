"""Ratings by people, compared by condition: from the rating pages' CSV to tables of means, tests
and agreement by arm.
"""
