"""Rows divided by their largest size, as before a quantisation."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x / x.abs().amax(dim=1, keepdim=True).clamp_min(1e-12)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
