"""The divisor of relu attention in windows of eight by eight tokens: heads share scores and have a bias for each relative position."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, scores, table):
        token = torch.arange(64, device=scores.device)
        y, x = token // 8, token % 8
        index = (y[None] - y[:, None] + 7) * 15 + x[None] - x[:, None] + 7
        return torch.relu(scores[:, None] + table[:, index]).sum(-1)


def get_inputs():
    return [torch.randn(40, 64, 64), torch.randn(16, 225)]


def get_init_inputs():
    return []
