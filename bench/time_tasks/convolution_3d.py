"""A convolution in three dimensions with a gigabyte of output."""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv3d(3, 64, 3)

    def forward(self, x):
        return torch.relu(self.conv(x))


def get_inputs():
    return [torch.rand(16, 3, 66, 66, 66)]


def get_init_inputs():
    return []
