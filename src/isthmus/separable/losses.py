"""What is learned from rows of all classes: MDRE, TRE, the single ratio and InfoNCE.

Every loss takes the critics' values on rows of each class, tensors of shape (n critics, rows of
the class). MDRE and TRE have a critic for each pair of neighbours in the order p, auxiliaries, q,
which is the logarithm of their ratio; the sum of all is log p/q. They differ in the loss: of all
classes at once, or of each pair by itself.
"""

from __future__ import annotations

import math
from typing import Any

from ..neural.lazy_torch import require_torch

METHODS = ("mdre", "tre", "single", "infonce")


class Method:
    """How many critics a method has, its loss, and how they make up log p/q.

    Parameters
    ----------
    name : {"mdre", "tre", "single", "infonce"}
    classes : int
        K + 2.
    """

    def __init__(self, name: str, classes: int) -> None:
        self.name, self.classes = name, classes
        self.n_critics = classes - 1 if name in ("mdre", "tre") else 1

    @property
    def uses(self) -> list[int]:
        """Classes whose rows the loss needs."""
        return [0, self.classes - 1] if self.n_critics == 1 else list(range(self.classes))

    def loss(self, values: dict[int, Any]) -> Any:
        """Loss on rows of the classes.

        Parameters
        ----------
        values : dict of Tensor of shape (n_critics, rows)
            By class; for InfoNCE the rows of q are those of each row of p, side by side.
        """
        torch = require_torch("training")
        softplus = torch.nn.functional.softplus
        if self.name == "infonce":
            own, others = values[0][0], values[self.classes - 1][0]
            every = torch.cat([own[:, None], others.view(len(own), -1)], dim=1)
            return (torch.logsumexp(every, dim=1) - own).mean()
        if self.name == "mdre":
            every = {y: scores(value) for y, value in values.items()}
            rows = [(h.logsumexp(0) - h[y]).mean() for y, h in every.items()]
            return sum(rows) / len(rows)
        if self.name == "single":
            return softplus(-values[0][0]).mean() + softplus(values[self.classes - 1][0]).mean()
        bridges = [
            softplus(-values[k][k]).mean() + softplus(values[k + 1][k]).mean()
            for k in range(self.n_critics)
        ]
        return sum(bridges) / len(bridges)

    def accuracy(self, values: dict[int, Any]) -> dict[str, float]:
        """Share of each class's rows that are told rightly; of each bridge's for TRE."""
        if self.name == "infonce":
            own, others = values[0][0], values[self.classes - 1][0]
            right = own > others.view(len(own), -1).amax(1)
            return {"accuracy p": float(right.float().mean())}
        if self.name == "mdre":
            return {
                f"accuracy {_name(y, self.classes)}": float(
                    (scores(value).argmax(0) == y).float().mean()
                )
                for y, value in values.items()
            }
        sides = [(0, self.classes - 1)]
        if self.name == "tre":
            sides = [(k, k + 1) for k in range(self.n_critics)]
        return {
            f"accuracy {_name(a, self.classes)}/{_name(b, self.classes)}": 0.5
            * float((values[a][k] > 0).float().mean() + (values[b][k] <= 0).float().mean())
            for k, (a, b) in enumerate(sides)
        }


def scores(bridges: Any) -> Any:
    """Critics h of all classes, that of q being zero, from h_k - h_(k+1), shape (classes, rows).

    A step that one pair of neighbours asks for leaves the ratios of all the others as they are.
    With a critic for each h_k it would not.

    Examples
    --------
    >>> import torch
    >>> scores(torch.tensor([[1.0], [2.0], [3.0]])).ravel().tolist()
    [6.0, 5.0, 3.0, 0.0]
    """
    torch = require_torch("training")
    n = len(bridges)
    return torch.ones(n + 1, n, dtype=bridges.dtype).triu() @ bridges


def capped(own: Any, others: Any, count: int) -> Any:
    """InfoNCE's log-ratio, at most log ``count``.

    Parameters
    ----------
    own : Tensor of shape (rows,)
        Scores of pairs.
    others : Tensor of shape (rows, m)
        Scores of the same u with other v.
    count : int
        Rows that the pair was to be found among, itself with them.
    """
    torch = require_torch("InfoNCE")
    rest = others.logsumexp(1) + math.log(count - 1) - math.log(others.shape[1])
    return own - torch.logaddexp(own, rest) + math.log(count)


def _name(y: int, classes: int) -> str:
    return "p" if y == 0 else "q" if y == classes - 1 else f"m{y}"
