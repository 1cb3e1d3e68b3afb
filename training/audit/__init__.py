"""Attacks on a trained counselor: who was in the training, what it learned by heart, and whether
that fits the stated privacy.
"""
