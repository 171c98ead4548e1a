# red-team: task=linear expect=load_error run-limit=10s no-timing
"""A module that has nowhere to put the task's weights."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m, bias=False)

    def forward(self, x):
        return torch.relu(x @ self.fc.weight.t())
