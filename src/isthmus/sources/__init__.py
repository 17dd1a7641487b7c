"""Tables that need not be in memory: files, datasets, lazy frames, Dask's frames, batches."""

from .mapped import in_parts, is_lazy
from .recognising import as_source

__all__ = ["as_source", "in_parts", "is_lazy"]
