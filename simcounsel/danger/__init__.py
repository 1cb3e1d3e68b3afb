"""Danger in what clients say: how it is heard, and the safety protocol that then decides."""
