"""A layer with parameters."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, units):
        super().__init__()
        self.layer = nn.Linear(width, units)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(64, 128)]


def get_init_inputs():
    return [128, 96]
