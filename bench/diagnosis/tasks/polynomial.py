"""A polynomial of degree 48 of each element."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        y = torch.full_like(x, 0.011)
        for _ in range(6):
            for c in (-0.02, 0.03, -0.05, 0.08, -0.13, 0.21, -0.34, 0.55):
                y = y * x + c
        return y


def get_inputs():
    return [torch.rand(512, 1024) * 2 - 1]


def get_init_inputs():
    return []
