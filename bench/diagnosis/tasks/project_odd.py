"""Rows times a matrix whose rows are not a multiple of a cache line."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, weight):
        return x @ weight


def get_inputs():
    return [torch.randn(2048, 44), torch.randn(44, 132)]


def get_init_inputs():
    return []
