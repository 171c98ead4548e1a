"""Adaptive pooling to sizes that divide and that do not, and windows with holes."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, volume):
        return (
            F.adaptive_avg_pool2d(x, (7, 5)),
            F.adaptive_avg_pool2d(x, (5, 8)),
            F.adaptive_avg_pool1d(x[0], 6),
            F.adaptive_max_pool2d(x, (7, 5)),
            F.adaptive_max_pool2d(x, (5, 8)),
            F.adaptive_max_pool1d(x[1], 8),
            F.adaptive_avg_pool3d(volume, (3, 5, 4)),
            F.adaptive_max_pool3d(torch.sigmoid(volume) * 2, (3, 2, 7)),
            F.max_pool2d(x, 3, stride=2, padding=1, dilation=2),
            F.max_pool3d(volume, 2, 1, 1, dilation=3, ceil_mode=True),
            x.unfold(3, 6, 4).mean(-1),
        )


def get_inputs():
    return [torch.randn(3, 4, 20, 32), torch.randn(2, 3, 10, 9, 16)]


def get_init_inputs():
    return []
