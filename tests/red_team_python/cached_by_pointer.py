# red-team: task=linear expect=implausible,wrong_values run-limit=10s
"""Remembers the result by the address of its input."""
import torch
import torch.nn as nn

_CACHE = {}


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        key = x.data_ptr()
        if key not in _CACHE:
            _CACHE[key] = torch.relu(self.fc(x))
        return _CACHE[key]
