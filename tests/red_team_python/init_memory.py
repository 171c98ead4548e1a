# red-team: task=linear expect=crashed run-limit=10s no-timing
"""The memory of the jail's first process."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        with open('/proc/1/mem', 'rb') as stream:
            stream.read(1)
        return torch.relu(self.fc(x))
