"""Rows times a matrix."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, weight):
        return x @ weight


def get_inputs():
    return [torch.randn(512, 48), torch.randn(48, 128)]


def get_init_inputs():
    return []
