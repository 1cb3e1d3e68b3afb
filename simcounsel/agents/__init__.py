"""Minds: what a resident remembers, feels, plans, says and concludes."""
