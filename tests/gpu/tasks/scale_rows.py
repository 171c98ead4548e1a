"""Rows by their greatest absolute value."""
import torch
import torch.nn as nn

ROWS, COLUMNS = 128, 256


class Model(nn.Module):
    def forward(self, x):
        return x / torch.amax(torch.abs(x), dim=1, keepdim=True).clamp(min=1e-6)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
