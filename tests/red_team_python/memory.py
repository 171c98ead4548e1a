# red-team: task=linear expect=out_of_memory run-limit=10s no-timing
"""More memory than anybody gives it."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        held = torch.empty(1 << 36)
        return torch.relu(self.fc(x))
