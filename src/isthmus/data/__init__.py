"""Samples, blocks of rows, held-out rows, seeds and validation."""
