"""A scale and a shift for each channel."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, scale, shift):
        return x * scale + shift


def get_inputs():
    return [torch.randn(600, 384), torch.randn(384), torch.randn(384)]


def get_init_inputs():
    return []
