"""Saturate: the cheapest program that computes the same value and gradients."""
