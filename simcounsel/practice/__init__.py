"""Practice for trainees: they counsel a simulated client and get feedback."""
