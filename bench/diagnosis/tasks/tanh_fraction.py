"""A continued fraction for the hyperbolic tangent."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        t = x.clamp(-4, 4)
        s = t * t
        d = torch.full_like(t, 15.0)
        for k in (13, 11, 9, 7, 5, 3, 1):
            d = k + s / d
        return t / d


def get_inputs():
    return [torch.randn(1 << 19)]


def get_init_inputs():
    return []
