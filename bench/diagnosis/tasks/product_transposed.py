"""A product with a transposed matrix."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, weight):
        return x @ weight.t()


def get_inputs():
    return [torch.randn(1024, 64), torch.randn(64, 64)]


def get_init_inputs():
    return []
