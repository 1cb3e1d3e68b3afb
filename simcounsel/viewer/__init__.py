"""Look into runs: frames (the log as pictures need it), serve (a local site), bundle (one file to
mail).
"""
