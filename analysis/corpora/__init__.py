"""Corpora beside each other: what judges and people say of them, and what can be counted.

sources    corpora, syntheses, sweeps -> groups of dialogues
quality    five dimensions, with intervals
people     raters' answers, and how far judge and people agree
counted    the measures of simcounsel.corpus
pictures   figures
comparison all of it
writing    one page, and the numbers as CSV
"""
