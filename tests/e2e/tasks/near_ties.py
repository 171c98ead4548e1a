"""Neighbouring numbers, of which a multiplication in single precision makes equal ones."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return (x * 0.3).argmax(dim=1)


def get_inputs():
    steps = torch.randint(0, 4, (512, 8)).float()
    return [1.0 + steps * 2.0**-23 * (torch.rand(512, 1) + 1).round()]
