"""Large matrix times a vector; bound by memory."""
import torch
import torch.nn as nn

ROWS, COLUMNS = 4100, 4000


class Model(nn.Module):
    def forward(self, matrix, vector):
        return torch.mv(matrix, vector)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS), torch.randn(COLUMNS)]


def get_init_inputs():
    return []
