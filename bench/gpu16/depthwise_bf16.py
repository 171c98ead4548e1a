"""A depthwise 7 x 7 convolution."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(192, 192, 7, padding=3, groups=192).to(torch.bfloat16)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(16, 192, 56, 56).to(torch.bfloat16)]


def get_init_inputs():
    return []
