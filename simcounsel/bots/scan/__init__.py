"""What a bot's line does, read by rules, each checked on labelled lines (`checked`)."""
