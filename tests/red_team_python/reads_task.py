# red-team: task=linear expect=crashed run-limit=10s no-timing
"""The task's file is not there."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        import glob
        found = glob.glob('/task/*') + glob.glob('/home/**/linear.py')
        with open(found[0]) as stream:
            stream.read()
        return torch.relu(self.fc(x))
