"""Complex numbers as pairs of floats, multiplied."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        re = a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1]
        im = a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]
        return torch.stack((re, im), dim=-1)


def get_inputs():
    return [torch.randn(64, 150, 2), torch.randn(64, 150, 2)]


def get_init_inputs():
    return []
