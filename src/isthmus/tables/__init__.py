"""Frames and files to rows, and back."""
