"""Does the effect hang on choices that could as well have been others? The same experiment, lived
and analyzed in every combination of them.
"""
