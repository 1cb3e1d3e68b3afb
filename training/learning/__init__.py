"""Local training: the frozen base, sessions as tokens, steps with and without privacy, and the
central loop. Here, and in `audit`, lives torch.

base        the model that is adapted, and its adapters
processes   several that share each step
examples    sessions as tokens; only the counselor's words are learned
gradients   one clipped gradient a unit (DP-SGD)
preferences revised lines rather than their drafts (DPO)
steps       local training: which sessions, in which order
site        a site's training, as a federation asks for it
choice      which weights are kept, and when it ends
tune        the central loop
folder      what a training leaves on disk
"""
