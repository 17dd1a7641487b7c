"""Pictures of ratios, of checks and of columns.

Every function takes arrays and, as ``ax``, the Axes to draw on; without one it
makes a new figure with pyplot. All of them return the Axes. Matplotlib is
imported when a picture is drawn, not before. What several functions take is
the same in all of them:

weight, weight_p, weight_q : array-like, optional
    Weights of the rows, by default one each.
name, names : str, or a pair of str
    Names of columns.
labels : pair of str
    Names of the two samples; where None is allowed, it leaves out the legend.
level : float
    Level of the intervals.

p is blue and q vermilion everywhere, a pair that every kind of colour vision
tells apart. Names that come from data are shown as they are: a dollar sign does
not begin a formula, and a leading underscore does not hide a name.

>>> import matplotlib
>>> matplotlib.use("Agg")
>>> import numpy as np
>>> from isthmus import plots
>>> rng = np.random.default_rng(0)
>>> ax = plots.log_ratio_histogram(rng.normal(2, 1, 500), rng.normal(-2, 1, 500))
>>> ax.get_xlabel()
'log p(x)/q(x), nats'
"""

from .checks import (
    calibration,
    class_accuracy,
    family_agreement,
    lone_rows,
    permutation_null,
    weight_curve,
    weight_tail,
)
from .columns import column_ranking, column_values, level_shares
from .drift import drift_line, drift_map
from .information import information_map
from .intervals import intervals
from .ratio import (
    estimated_against_true,
    log_ratio_histogram,
    posterior_band,
    ratio_curve,
    ratio_map,
    ratio_points,
)

__all__ = [
    "calibration",
    "class_accuracy",
    "column_ranking",
    "column_values",
    "drift_line",
    "drift_map",
    "estimated_against_true",
    "family_agreement",
    "information_map",
    "intervals",
    "level_shares",
    "log_ratio_histogram",
    "lone_rows",
    "permutation_null",
    "posterior_band",
    "ratio_curve",
    "ratio_map",
    "ratio_points",
    "weight_curve",
    "weight_tail",
]
