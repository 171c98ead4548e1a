"""Transposed one-dimensional convolution with stride: a learnt upsampling."""
import torch
import torch.nn as nn

BATCH, CHANNELS, LENGTH = 6, 30, 400
FILTERS, KERNEL, STRIDE, PADDING = 20, 4, 2, 1


class Model(nn.Module):
    def __init__(self, channels, filters, kernel, stride, padding):
        super().__init__()
        self.up = nn.ConvTranspose1d(channels, filters, kernel, stride=stride, padding=padding)
        nn.init.normal_(self.up.bias)

    def forward(self, x):
        return self.up(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, LENGTH)]


def get_init_inputs():
    return [CHANNELS, FILTERS, KERNEL, STRIDE, PADDING]
