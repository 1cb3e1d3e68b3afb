"""What is done with texts everywhere: quotes that must be in them, words in common, names left
out.
"""
