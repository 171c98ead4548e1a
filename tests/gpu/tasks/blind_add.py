"""Two matrices added with a factor."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return a + 0.5 * b


def get_inputs():
    return [torch.randn(64, 256), torch.randn(64, 256)]


def get_init_inputs():
    return []
