"""The energy of each row of a matrix with a weight for each column."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, weight):
        return (x * x * weight).sum(dim=1)


def get_inputs():
    return [torch.randn(512, 512), torch.rand(512)]


def get_init_inputs():
    return []
