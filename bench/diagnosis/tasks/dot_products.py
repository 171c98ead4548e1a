"""The inner products of one vector with two others, and its own."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y, z):
        return torch.stack([x @ x, x @ y, x @ z])


def get_inputs():
    return [torch.randn(1 << 18), torch.randn(1 << 18), torch.randn(1 << 18)]


def get_init_inputs():
    return []
