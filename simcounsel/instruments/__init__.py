"""Instruments: scales, who answers them, how answers become scores, and what was measured in a
run.
"""
