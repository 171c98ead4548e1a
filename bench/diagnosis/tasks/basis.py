"""Sixty-four polynomials of the same points."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, coef):
        t = x.clamp(-1, 1)[None]
        p = torch.zeros(coef.shape[1], x.shape[0], dtype=x.dtype, device=x.device)
        for k in range(coef.shape[0] - 1, -1, -1):
            p = p * t + coef[k][:, None]
        return p


def get_inputs():
    return [torch.randn(24592), torch.randn(40, 64)]


def get_init_inputs():
    return []
