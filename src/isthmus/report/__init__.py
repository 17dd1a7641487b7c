"""One page of HTML that answers, checks, draws and can be repeated.

``comparison.report("report.html")`` writes it. The page is one file: style and
figures are within it, it has no scripts, and it asks the network for nothing.
"""

from .document import page, write
from .notebook import fragment

__all__ = ["fragment", "page", "write"]
