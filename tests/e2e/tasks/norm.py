"""Batch norm inside another module: what it computes depends on the mode of the module."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.inner = nn.Sequential(nn.BatchNorm1d(features))

    def forward(self, x):
        return self.inner(x)


def get_inputs():
    return [torch.randn(256, 64) + 2]


def get_init_inputs():
    return [64]
