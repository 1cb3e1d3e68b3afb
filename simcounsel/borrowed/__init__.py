"""Minds and profiles of other packages: PatientHub's simulated clients, Concordia's entities.

A guest. None of those packages comes along: the user installs them, and a `mind:` line names one.
"""
