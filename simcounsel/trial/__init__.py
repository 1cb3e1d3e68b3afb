"""Trials in which people take part: arms, allocation, days, pages, a log that cannot be changed unseen."""
