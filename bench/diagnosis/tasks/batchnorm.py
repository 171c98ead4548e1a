"""Batch normalisation with given statistics."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, mean, var, gamma, beta):
        return (x - mean) / torch.sqrt(var + 1e-5) * gamma + beta


def get_inputs():
    return [torch.randn(256, 1024), torch.randn(1024), torch.rand(1024) + 0.5, torch.randn(1024), torch.randn(1024)]


def get_init_inputs():
    return []
