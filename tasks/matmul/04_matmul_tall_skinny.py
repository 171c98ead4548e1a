"""Tall matrix times a small one."""
import torch
import torch.nn as nn

ROWS, DEPTH, COLUMNS = 20000, 48, 60


class Model(nn.Module):
    def forward(self, tall, small):
        return tall @ small


def get_inputs():
    return [torch.randn(ROWS, DEPTH), torch.randn(DEPTH, COLUMNS)]


def get_init_inputs():
    return []
