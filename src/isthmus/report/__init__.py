"""One page of HTML that answers, checks, draws and can be repeated.

``comparison.report("report.html")`` writes it, and ``drift.report("drift.html")`` another. The
page is one file: style and figures are within it, it has no scripts and loads nothing.
"""

from .document import page, write
from .drift import drift_summary, write_drift
from .notebook import fragment

__all__ = ["drift_summary", "fragment", "page", "write", "write_drift"]
