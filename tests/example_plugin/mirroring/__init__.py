"""An example of what a package can add to simcounsel: a policy with an event of its own, a mind, a
provider of models, two instruments and a command. `pyproject.toml` registers them.
"""
