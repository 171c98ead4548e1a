"""Short rows scaled to unit length."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x / (1 + (x * x).sum(1, keepdim=True)).sqrt()


def get_inputs():
    return [torch.randn(16384, 64)]


def get_init_inputs():
    return []
