"""Composable lowering passes on programs."""
