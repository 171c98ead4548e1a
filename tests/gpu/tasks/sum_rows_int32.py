"""Sums of rows of integers of 32 bits."""
import torch
import torch.nn as nn

ROWS, COLUMNS = 400, 777


class Model(nn.Module):
    def forward(self, x):
        return torch.sum(x, dim=1, dtype=torch.int32)


def get_inputs():
    return [torch.randint(-100000, 100000, (ROWS, COLUMNS), dtype=torch.int32)]


def get_init_inputs():
    return []
