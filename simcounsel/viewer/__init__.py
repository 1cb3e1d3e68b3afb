"""Look into runs: routes (a site's pages and data), serve (on this machine), bundle (one file to
mail).
"""
