"""Tracing: plain NumPy code run on tracers, one module for each family of functions."""
