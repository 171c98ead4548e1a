"""A convolution, batch norm in inference mode and ReLU."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(128, 128, 3, padding=1).to(torch.float16)
        self.register_buffer("mean", torch.randn(128).half())
        self.register_buffer("variance", torch.rand(128).half() + 0.5)
        self.weight = nn.Parameter(torch.randn(128).half())
        self.bias = nn.Parameter(torch.randn(128).half())

    def forward(self, x):
        return F.relu(F.batch_norm(self.conv(x), self.mean, self.variance, self.weight, self.bias))


def get_inputs():
    return [torch.randn(32, 128, 28, 28).to(torch.float16)]


def get_init_inputs():
    return []
