"""The version, written here and nowhere else: the build reads it from this file."""

__version__ = "0.2.0"
