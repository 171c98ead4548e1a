"""Sums of a smooth function: on inputs of few distinct values their terms are equal, and none is a round number."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return F.softplus(x).sum(dim=1)


def get_inputs():
    return [torch.randn(12, 20000)]


def get_init_inputs():
    return []
