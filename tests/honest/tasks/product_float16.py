"""A product in half precision."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(64, 128).half(), torch.randn(128, 96).half()]


def get_init_inputs():
    return []
