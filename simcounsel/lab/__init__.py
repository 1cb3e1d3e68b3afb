"""Sweeps: many runs of an experiment, planned, lived in processes of their own or on Ray, and
gathered.
"""
