"""A seven by seven box sum of three images."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.nn.functional.avg_pool2d(x[:, None], 7, stride=1)[:, 0] * 49


def get_inputs():
    return [torch.randn(3, 390, 390)]


def get_init_inputs():
    return []
