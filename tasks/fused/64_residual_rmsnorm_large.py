"""Residual sum and its normalised copy over large tensors; bound by memory."""
import torch
import torch.nn as nn

ROWS, WIDTH = 3900, 1040


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.RMSNorm(width, eps=1e-6)
        nn.init.normal_(self.norm.weight)

    def forward(self, x, residual):
        total = x + residual
        return self.norm(total), total


def get_inputs():
    return [torch.randn(ROWS, WIDTH), torch.randn(ROWS, WIDTH) * (0.3 + 2 * torch.rand(ROWS, 1))]


def get_init_inputs():
    return [WIDTH]
