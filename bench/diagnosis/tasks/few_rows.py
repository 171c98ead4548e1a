"""A few rows times the transpose of a large matrix."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, weight):
        return x @ weight.t()


def get_inputs():
    return [torch.randn(16, 512), torch.randn(2048, 512)]


def get_init_inputs():
    return []
