"""A polynomial of values relative to the largest."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, coef):
        t = x / (x.abs().max() + 1)
        p = torch.zeros_like(t)
        for k in range(coef.shape[0] - 1, -1, -1):
            p = p * t + coef[k]
        return p


def get_inputs():
    return [torch.randn(1 << 20), torch.randn(40)]


def get_init_inputs():
    return []
