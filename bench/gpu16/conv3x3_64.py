"""A 3 x 3 convolution of 64 channels."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(64, 64, 3, padding=1, bias=False).to(torch.float16)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(32, 64, 56, 56).to(torch.float16)]


def get_init_inputs():
    return []
