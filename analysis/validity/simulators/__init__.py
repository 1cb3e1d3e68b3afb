"""Simulators of clients side by side, before the same counselor, and beside real talk."""
