"""Runners: NumPy and CuPy over the same op definitions."""
