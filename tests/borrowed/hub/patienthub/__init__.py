"""A stand-in for PatientHub with its interface and three simulators of our own; nothing of PatientHub's is here."""
