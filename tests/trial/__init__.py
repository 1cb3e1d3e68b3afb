"""Trials with people."""
