"""The list of all classes that a file of a model may hold; see :mod:`.registry`.

A new part of a model is a line here. Rows of a fit are left out, except where they are the model:
the centres of kernels and bumps, and the rows that neighbours are looked for among.
"""

from __future__ import annotations

from typing import Any

from .. import anchors, auxiliaries, baselines, critics
from ..anchors.copula import WarpedComponent
from ..anchors.elliptical import Component
from ..anchors.generalised_normal import PowerComponent
from ..anchors.margins import Margin
from ..anchors.mixed import Footing, MixedDensity
from ..anchors.tree import LevelTree
from ..anchors.truncated import TruncatedAnchor
from ..auxiliaries.discrete import ValueTable
from ..auxiliaries.mixing import Samples
from ..baselines.plug_in import Components, Kernels
from ..baselines.spectral_features import QuadraticFeatures, WaveFeatures
from ..baselines.time_network import Clock, NetworkScore
from ..baselines.time_quadratic import QuadraticScore
from ..baselines.time_score import Path
from ..baselines.velocity import NormalVelocity, Velocity
from ..candidates.bumps import BumpFeatures, Bumps, BumpsFit
from ..candidates.columns import Columns
from ..candidates.focused import Focused, FocusedFit
from ..candidates.levels import LevelDensities, LevelDensitiesFit
from ..candidates.logistic import Logistic
from ..candidates.neighbours import Neighbours, NeighboursFit
from ..candidates.ridge import Ridge, RidgeFeatures, RidgeFit
from ..candidates.sparse import Feature, Sparse, SparseFit
from ..candidates.trees import Bins, Trees, TreesFit
from ..critics.mlp import MLP, Network
from ..critics.quadratic import Coefficients
from ..critics.splines import Tables
from ..data.levels import Layout, Levels
from ..diagnostics.check import Check
from ..diagnostics.columns import ColumnDifference
from ..drifting.reference import Profile, Reference
from ..functionals.estimate import Estimate
from ..maps.affine import AffineMap, Frame
from ..maps.coordinates import Coordinates
from ..maps.logspline import LogSpline
from ..maps.parametric import AsinhMap, IdentityMap, LogMap, SignedLogMap, YeoJohnsonMap
from ..maps.quantile import NormalScores, QuantileMap, Tail
from ..maps.shared import SharedMaps
from ..maps.two_normals import TwoNormalsMap
from ..mdre import MDRE
from ..model.classes import ClassModel
from ..model.classifier import ClassifierModel
from ..model.network import NetworkFit
from ..model.offsets import Offsets
from ..model.solvers import Solution
from ..neural.batches import Standard
from ..neural.inputs import FrameInputs
from ..neural.residual import Residual
from ..neural.training import Trained
from ..selection.record import Member, Selection, Trial
from ..stacked import StackedMDRE
from ..tables.deciding import LeftOut
from ..tables.door import Door
from ..tables.encoding import Plan
from ..tables.frames import TableEncoder
from ..tables.margins import Margin as TableMargin
from ..tables.onesided import OneSided, OneSidedRows
from .comparison import SavedComparison
from .registry import Kind
from .trees import TreeSum


def _kind(name: str, cls: Any, further: str = "", without: str = "", **how: Any) -> Kind:
    return Kind(name, cls, tuple(further.split()), tuple(without.split()), **how)


# What every estimator of a ratio has after a fit.
_FITTED = "classes_ n_features_in_ feature_names_in_"
_KERNEL = f"{_FITTED} _where centres_ _centres floor_ _sizes widths_"
_PENALISED = f"{_KERNEL} l2s_ scores_ score_errors_ width_ l2_"
_BOUND = "frames_ dim_ n_features n_parameters"


def _flow(estimator: Any) -> list[Any]:
    """What the flow of an FDRE was made with."""
    columns = len(estimator.standard_.centre)
    return [estimator.flow, columns, estimator.transforms, estimator.width, estimator.depth]


_ANSWERS = (
    _kind("comparison", SavedComparison),
    _kind("estimate", Estimate),
    _kind("check", Check),
    _kind("column-difference", ColumnDifference),
    _kind("tables.encoder", TableEncoder, "door columns drop keep missing dates max_levels labels "
          "plans feature_names_ left_out_ margins_ one_sided_ dropped_rows", "kept_p_ kept_q_"),
    _kind("tables.plan", Plan),
    _kind("tables.door", Door),
    _kind("tables.left-out", LeftOut),
    _kind("tables.margin", TableMargin),
    _kind("tables.one-sided", OneSided),
    _kind("tables.one-sided-rows", OneSidedRows),
)  # fmt: skip

_DRIFT = (
    _kind("drift.reference", Reference),
    _kind("drift.profile", Profile),
)

_ESTIMATORS = (
    _kind("mdre", MDRE, f"{_FITTED} best_params_ auxiliaries_ selection_ n_iter_ l2_ solution_ "
          "model_", "fitted_to_"),
    _kind("stacked", StackedMDRE, f"{_FITTED} selection_ before_ densities_ first_ members_ "
          "single_ constant_", "crossfit_"),
    _kind("baselines.bdre", baselines.BDRE,
          f"{_FITTED} estimator_ n_iter_ l2_ selection_ classifier_"),
    _kind("baselines.tre", baselines.TRE, f"{_FITTED} n_waymarks_ models_ alphas_ l2_ "
          "bridge_accuracy_ n_iter_ bridges_", "waymarks_ chain_"),
    _kind("baselines.kliep", baselines.KLIEP,
          f"{_KERNEL} cap_ scores_ width_ coef_ objective_ gap_ n_iter_"),
    _kind("baselines.ulsif", baselines.ULSIF, f"{_PENALISED} coef_"),
    _kind("baselines.rulsif", baselines.RULSIF, f"{_PENALISED} coef_ cap_"),
    _kind("baselines.kmm", baselines.KMM, f"{_PENALISED} coef_ intercept_ mmd_ n_iter_",
          "weights_"),
    _kind("baselines.nnbd", baselines.NNBD,
          f"{_FITTED} standard_ selection_ n_iter_ bound_ module_ training_"),
    _kind("baselines.nce", baselines.ExponentialNCE,
          f"{_FITTED} solution_ model_ l2_ selection_ n_iter_ converged_"),
    _kind("baselines.fdre", baselines.FDRE,
          f"{_FITTED} map_ training_ _scale classifier_ standard_ flow_", recipes={"flow_": _flow}),
    _kind("baselines.dre-infinity", baselines.DREInfinity,
          f"{_FITTED} score_ path_ map_ _bias l2_ times_ training_"),
    _kind("baselines.ctsm", baselines.CTSM, f"{_FITTED} score_ path_ map_ _bias training_"),
    _kind("baselines.flow-matching", baselines.FlowMatching,
          f"{_FITTED} map_ _bias velocities_ training_"),
    _kind("baselines.spectral", baselines.SpectralDRE,
          f"{_FITTED} map_ features_ l2_ coef_ kl_"),
    _kind("baselines.spectral.quadratic", QuadraticFeatures),
    _kind("baselines.spectral.waves", WaveFeatures),
    _kind("baselines.velocity", Velocity),
    _kind("baselines.velocity.normal", NormalVelocity),
    _kind("baselines.info-nce", baselines.InfoNCE, f"{_FITTED} standard_ largest_ training_ "
          "n_iter_ mutual_information_ columns_x_ columns_y_ module_ references_"),
    _kind("baselines.plug-in", baselines.PlugIn, f"{_FITTED} map_ _named densities_"),
    _kind("baselines.plug-in.components", Components),
    _kind("baselines.plug-in.kernels", Kernels),
    _kind("baselines.time.path", Path),
    _kind("baselines.time.clock", Clock, "times length taus"),
    _kind("baselines.time.network", NetworkScore),
    _kind("baselines.time.quadratic", QuadraticScore),
)  # fmt: skip

_MODELS = (
    _kind("model.classes", ClassModel),
    _kind("model.classifier", ClassifierModel),
    _kind("model.network", NetworkFit),
    _kind("model.offsets", Offsets),
    _kind("model.solution", Solution),
    _kind("neural.standard", Standard),
    _kind("neural.frame-inputs", FrameInputs),
    _kind("neural.residual", Residual),
    _kind("neural.trained", Trained),
    _kind("selection", Selection, without="alternatives"),
    _kind("selection.trial", Trial),
    _kind("selection.member", Member),
)

_CANDIDATES = (
    _kind("candidates.ridge", Ridge),
    _kind("candidates.ridge.features", RidgeFeatures),
    _kind("candidates.ridge.fit", RidgeFit),
    _kind("candidates.sparse", Sparse),
    _kind("candidates.sparse.feature", Feature),
    _kind("candidates.sparse.fit", SparseFit),
    _kind("candidates.bumps", Bumps),
    _kind("candidates.bumps.features", BumpFeatures),
    _kind("candidates.bumps.fit", BumpsFit),
    _kind("candidates.neighbours", Neighbours),
    _kind("candidates.neighbours.fit", NeighboursFit),
    _kind("candidates.trees", Trees),
    _kind("candidates.trees.bins", Bins),
    _kind("candidates.trees.fit", TreesFit, forms={"trees": TreeSum.of}),
    _kind("candidates.trees.sum", TreeSum),
    _kind("candidates.focused", Focused),
    _kind("candidates.focused.fit", FocusedFit),
    _kind("candidates.levels", LevelDensities),
    _kind("candidates.levels.fit", LevelDensitiesFit),
    _kind("candidates.columns", Columns),
    _kind("candidates.logistic", Logistic),
)

_PARTS = (
    _kind("anchors.component", Component),
    _kind("anchors.component.power", PowerComponent),
    _kind("anchors.component.warped", WarpedComponent),
    _kind("anchors.margin", Margin),
    _kind("anchors.gaussian", anchors.GaussianAnchor, "component_ shrinkage_"),
    _kind("anchors.student-t", anchors.StudentTAnchor, "df_ component_"),
    _kind("anchors.generalised-normal", anchors.GeneralisedNormalAnchor, "shape_ component_"),
    _kind("anchors.copula", anchors.CopulaAnchor, "component_"),
    _kind("anchors.mixture", anchors.MixtureAnchor, "components_"),
    _kind("anchors.truncated", TruncatedAnchor, "centre_ scale_ constant_ layer_ component_ low_ "
          "high_ slope_ curvature_"),
    _kind("anchors.mixed", anchors.MixedAnchor, "affine_ density_"),
    _kind("anchors.mixed.footing", Footing),
    _kind("anchors.mixed.density", MixedDensity),
    _kind("anchors.level-tree", LevelTree),
    _kind("anchors.moved", anchors.Moved, "component_"),
    _kind("anchors.pooled", anchors.Pooled),
    _kind("anchors.auto", anchors.AutoAnchor, "evidence_ scores_ choice_ anchor_ rivals_"),
    _kind("maps.affine", AffineMap),
    _kind("maps.frame", Frame),
    _kind("maps.coordinates", Coordinates),
    _kind("maps.shared", SharedMaps, "scores_ kinds_ maps_"),
    _kind("maps.identity", IdentityMap),
    _kind("maps.log", LogMap),
    _kind("maps.signed-log", SignedLogMap),
    _kind("maps.asinh", AsinhMap),
    _kind("maps.yeo-johnson", YeoJohnsonMap),
    _kind("maps.quantile", QuantileMap, "scores_ centre scale"),
    _kind("maps.quantile.scores", NormalScores),
    _kind("maps.quantile.tail", Tail),
    _kind("maps.log-spline", LogSpline),
    _kind("maps.two-normals", TwoNormalsMap),
    _kind("data.levels", Levels),
    _kind("data.layout", Layout),
    _kind("auxiliaries.bridge", auxiliaries.Bridge, "discrete_ where_ components_ table_"),
    _kind("auxiliaries.values", ValueTable, "values share"),
    _kind("auxiliaries.normal", auxiliaries.Normal, "map_ log_volume_"),
    _kind("auxiliaries.student-t", auxiliaries.StudentT, "map_ log_volume_"),
    _kind("auxiliaries.cauchy", auxiliaries.Cauchy, "df map_ log_volume_"),
    _kind("auxiliaries.uniform", auxiliaries.Uniform, "low_ high_"),
    _kind("auxiliaries.truncated-normal", auxiliaries.TruncatedNormal,
          "loc_ scale_ flip_ log_below_ log_mass_ low_ high_ a_ b_"),
    _kind("auxiliaries.linear", auxiliaries.LinearMixing, without="samples_"),
    _kind("auxiliaries.dimension-wise", auxiliaries.DimensionWiseMixing, "blocks_", "samples_"),
    _kind("auxiliaries.samples", Samples, "n_samples", "rows rows_"),
    _kind("auxiliaries.shuffled", auxiliaries.ShuffledColumns, "parts_ share_"),
    _kind("auxiliaries.smoothed", auxiliaries.SmoothedMixture,
          "log_volume_ origin_ root_ inverse_root_ centres_ share_"),
    _kind("critics.quadratic", critics.Quadratic, f"{_BOUND} origin_ width_ upper_"),
    _kind("critics.coefficients", Coefficients),
    _kind("critics.diagonal", critics.Diagonal, f"{_BOUND} centre_ unit_"),
    _kind("critics.radial", critics.Radial, f"{_BOUND} mean_ sd_"),
    _kind("critics.splines", critics.Splines, f"{_BOUND} table_ low_ step_"),
    _kind("critics.splines.tables", Tables),
    _kind("critics.bumps", critics.Bumps, f"{_BOUND} centres_ variance_ mean_ sd_", "rows_"),
    _kind("critics.sum", critics.Sum, "parts_ blocks_ n_classes_ n_features n_parameters"),
    # A path of the machine that it was fitted on.
    _kind("critics.mlp", MLP, without="checkpoint"),
    _kind("critics.network", Network, without="checkpoint"),
)  # fmt: skip

KINDS = (*_ANSWERS, *_DRIFT, *_ESTIMATORS, *_MODELS, *_CANDIDATES, *_PARTS)
