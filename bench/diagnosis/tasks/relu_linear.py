"""A linear layer behind a ReLU."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, w):
        return torch.relu(x) @ w


def get_inputs():
    return [torch.randn(2048, 256), torch.randn(256, 32)]


def get_init_inputs():
    return []
