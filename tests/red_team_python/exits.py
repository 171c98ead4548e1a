# red-team: task=linear expect=crashed run-limit=10s no-timing
"""Ends with success before anything is compared."""
import os

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        os._exit(0)
