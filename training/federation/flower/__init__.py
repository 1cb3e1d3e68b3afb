"""The same rounds between machines, inside Flower: a ServerApp at the server, a ClientApp at each
site. Needs `simcounsel[federated]`.

Flower carries bytes and nothing else: its strategies, and its own wrappers for privacy, are not
used (in 1.41 its adaptive clip moves the wrong way, and its fixed one adds too little noise where
weights are unequal).
"""
