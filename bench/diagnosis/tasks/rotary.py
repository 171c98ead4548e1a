"""Rotary position embedding of all heads."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, angle):
        half = x.shape[2] // 2
        cos, sin = angle.cos(), angle.sin()
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def get_inputs():
    return [torch.randn(16, 512, 64), torch.randn(512, 32) * 10]


def get_init_inputs():
    return []
