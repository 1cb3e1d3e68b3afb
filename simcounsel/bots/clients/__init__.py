"""Who writes to a bot in a safety study: their files, what they say, how they move and live."""
