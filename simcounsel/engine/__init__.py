"""The world that runs: a Mesa model whose residents' bodies are in a network of places."""
