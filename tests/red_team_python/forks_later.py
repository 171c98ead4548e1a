# red-team: task=linear expect=sandbox_violation run-limit=10s no-timing
"""No new process once it has run."""
import os

import torch
import torch.nn as nn

_CALLS = [0]


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        _CALLS[0] += 1
        if _CALLS[0] > 1:
            os.fork()
        return torch.relu(self.fc(x))
