"""The world that runs: a Mesa model whose residents' bodies stand in a network of places."""
