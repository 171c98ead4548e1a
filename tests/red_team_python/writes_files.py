# red-team: task=linear expect=crashed run-limit=10s no-timing
"""There is no file outside its own folder to write."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        with open('/candidate/plan.json', 'w') as stream:
            stream.write('{}')
        return torch.relu(self.fc(x))
