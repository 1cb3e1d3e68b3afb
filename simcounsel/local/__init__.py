"""Language models inside this process: two that are fetched, or any GGUF file."""
