"""Launching Ray actors, each in the Python environment that its entry in the table asks for."""
