"""Tables that need not be in memory: files, datasets, lazy frames, Dask's frames, batches."""

from .recognising import as_source

__all__ = ["as_source"]
