"""What trainings are worth and what they cost in privacy, read from their folders."""
