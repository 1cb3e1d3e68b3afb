"""Trials in which people take part: arms, allocation, days, pages, a log with a chain of hashes."""
