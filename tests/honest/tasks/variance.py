"""Variances of rows whose means are not zero."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.var(dim=1, unbiased=False)


def get_inputs():
    return [torch.randn(96, 512) + torch.randn(96, 1)]


def get_init_inputs():
    return []
