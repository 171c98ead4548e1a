"""Logarithm of softmax over the middle dimension: a strided reduction."""
import torch
import torch.nn as nn

BATCH, CLASSES, POSITIONS = 50, 210, 90


class Model(nn.Module):
    def forward(self, x):
        return torch.log_softmax(x, dim=1)


def get_inputs():
    return [torch.randn(BATCH, CLASSES, POSITIONS) * 3]


def get_init_inputs():
    return []
