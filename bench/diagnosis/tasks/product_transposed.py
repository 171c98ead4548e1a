"""A product with a transposed matrix."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, weight):
        return x @ weight.t()


def get_inputs():
    return [torch.randn(512, 128), torch.randn(128, 128)]


def get_init_inputs():
    return []
