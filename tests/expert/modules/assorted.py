"""Small modules that have nothing in common, in one kernel: describing, building and checking one takes seconds."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Single(nn.Module):
    """Passes over a single element, and an epilogue whose parts are used twice."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 7)

    def forward(self, x, y):
        return F.mish(torch.log_softmax(x, dim=0)), F.softplus(torch.erf(self.layer(y)))


class Columns(nn.Module):
    """Values that later passes down columns use several times, though their rows are folded."""

    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(6, 1))

    def forward(self, x):
        total = torch.logsumexp(x, dim=1, keepdim=True)
        switched = total * torch.sigmoid(total + 3) / 6
        shares = F.softmax(x, dim=1)
        return (
            (switched - self.bias).clamp(-1, 1).amax(1),
            (shares * F.silu(shares.std(1, keepdim=True))).sum(1),
        )


class Pools(nn.Module):
    """Adaptive pooling to sizes that divide and that do not, and windows with holes."""

    def forward(self, x, volume):
        return (
            F.adaptive_avg_pool2d(x, (7, 5)),
            F.adaptive_avg_pool2d(x, (5, 8)),
            F.adaptive_avg_pool1d(x[0], 6),
            F.adaptive_max_pool2d(x, (7, 5)),
            F.adaptive_max_pool2d(x, (5, 8)),
            F.adaptive_max_pool1d(x[1], 8),
            *F.adaptive_max_pool2d(x.round(), (5, 8), return_indices=True),  # many equal elements
            F.adaptive_avg_pool3d(volume, (3, 5, 4)),
            F.adaptive_max_pool3d(torch.sigmoid(volume) * 2, (3, 2, 7)),
            F.max_pool2d(x, 3, stride=2, padding=1, dilation=2),
            F.max_pool3d(volume, 2, 1, 1, dilation=3, ceil_mode=True),
            x.unfold(3, 6, 4).mean(-1),
        )


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.single, self.columns, self.pools = Single(), Columns(), Pools()

    def forward(self, one, rows, folded, image, volume):
        return *self.single(one, rows), *self.columns(folded), *self.pools(image, volume)


def get_inputs():
    return [
        torch.randn(1),
        torch.randn(5, 3),
        torch.randn(3, 6, 261),
        torch.randn(3, 4, 20, 32),
        torch.randn(2, 3, 10, 9, 16),
    ]


def get_init_inputs():
    return []
