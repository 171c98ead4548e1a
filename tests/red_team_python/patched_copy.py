# red-team: task=linear expect=wrong_values run-limit=10s no-timing
"""Replaces what copies the result out."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        vars(torch.Tensor)
        type.__setattr__(torch.Tensor, 'copy' + '_', lambda self, other: self)
        return torch.zeros(x.shape[0], self.fc.out_features)
