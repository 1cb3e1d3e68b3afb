"""Danger in what is said: help lines by locale, and what a human who takes part in a simulation is
told.
"""
