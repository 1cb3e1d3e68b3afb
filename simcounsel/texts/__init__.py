"""What is done with texts everywhere: quotes that must stand in them, words in common, names left
out.
"""
