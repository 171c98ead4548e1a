"""A product in bfloat16."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(64, 128).to(torch.bfloat16), torch.randn(128, 96).to(torch.bfloat16)]


def get_init_inputs():
    return []
