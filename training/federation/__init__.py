"""Learning over sites whose data stay where they are: what travels, how it is screened, averaged
and counted. NumPy only, no torch.
"""
