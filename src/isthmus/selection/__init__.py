"""What "auto" means, and the record of how it was chosen."""

from .choose import choose
from .record import Selection, Trial

__all__ = ["Selection", "Trial", "choose"]
