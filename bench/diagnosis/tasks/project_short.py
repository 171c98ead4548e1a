"""Each row of 16 values times a matrix of 16 by 8."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, w):
        return x @ w


def get_inputs():
    return [torch.randn(32768, 16), torch.randn(16, 8)]


def get_init_inputs():
    return []
