"""What people write: worlds, personas, experiments, manuals; read strictly, wrong ones
explained.
"""
