"""Blind rating studies: people judge transcripts or persona pairs without knowing where they come
from.

instrument   what is asked, read from YAML
study        who is asked what: study.json, key.json
blinding     names and places out of the texts
answers      what they said: answers.jsonl, and its CSV
site         the raters' pages
offline      the same pages as one file each
"""
