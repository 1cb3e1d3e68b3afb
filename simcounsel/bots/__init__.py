"""Anybody's bot in a resident's seat, and what it does to those who talk with it.

file        what a bot is: where it answers, what it remembers, how fast it may be asked
wire        what it is sent and what it sent, as it came
endpoint    a server with a state of its own, or one of OpenAI's form
command     a program that reads and writes JSON lines; a Python callable
opening     the provider `bot`: from a bot's file to whoever answers
mind        the mind `bot`: a resident whose lines are the bot's
option      `--bot` for `run`, `fork` and `doctor`
clients/    who writes to a bot in a safety study
"""
