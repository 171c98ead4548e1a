"""Twelve steps of an iteration that halves each element and adds the input again."""
import torch
import torch.nn as nn

STEPS = 12


class Model(nn.Module):
    def forward(self, x):
        h = x
        for _ in range(STEPS):
            h = 0.5 * h + x
        return h


def get_inputs():
    return [torch.randn(1024, 1024)]


def get_init_inputs():
    return []
