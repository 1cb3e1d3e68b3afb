"""Simulated sessions beside real ones: what is counted in each, how far they are apart, whether a
program can tell them apart, and how soon clients yield.
"""
