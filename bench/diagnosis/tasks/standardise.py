"""All elements made mean 0 and variance 1."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return (x - x.mean()) * torch.rsqrt(x.var(unbiased=False) + 1e-5)


def get_inputs():
    return [torch.randn(1536, 1024)]


def get_init_inputs():
    return []
