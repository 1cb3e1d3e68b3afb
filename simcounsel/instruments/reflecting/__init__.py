"""Which turns of a counselor give back what the client said, told without a model."""
