"""A diagonal matrix times a matrix: half a gigabyte in, half a gigabyte out."""

import torch


class Model(torch.nn.Module):
    def forward(self, diagonal, matrix):
        return torch.diag(diagonal) @ matrix


def get_inputs():
    return [torch.rand(512), torch.rand(512, 262144)]


def get_init_inputs():
    return []
