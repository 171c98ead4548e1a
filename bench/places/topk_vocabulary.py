"""The fifty likeliest of a vocabulary, as a sampler takes them."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.topk(x, 50, dim=-1)


def get_inputs():
    return [torch.randn(64, 50000)]


def get_init_inputs():
    return []
