"""The largest standard score of each value under many distributions."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, mean, deviation):
        return ((x[:, None] - mean) / (deviation.abs() + 0.5)).amax(dim=1)


def get_inputs():
    return [torch.randn(8192), torch.randn(64), torch.rand(64)]


def get_init_inputs():
    return []
