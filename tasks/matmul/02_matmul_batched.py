"""Batch of independent matrix products."""
import torch
import torch.nn as nn

BATCH, ROWS, DEPTH, COLUMNS = 24, 150, 96, 140


class Model(nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b)


def get_inputs():
    return [torch.randn(BATCH, ROWS, DEPTH), torch.randn(BATCH, DEPTH, COLUMNS)]


def get_init_inputs():
    return []
