"""Sweeps: many runs of an experiment, planned, run in separate processes or on Ray, and
gathered.
"""
