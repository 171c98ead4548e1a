# solved: forward fills a cache at module level, so a second export would give another graph.
import collections
import dataclasses
import math
import torch
from torch import nn
import torch.nn.functional as F

MASKS = {}

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(3, 3)
    def forward(self, x):
        y = x
        whole = (y * 3 + 1) // 2
        y = y.float()
        if y.shape not in MASKS: MASKS[y.shape] = torch.ones(y.shape).tril()
        y = y.clamp(-1, 2)
        y = self.mix(y.to(torch.float32))
        y = F.gelu(y)
        y = torch.tanh(y * 0.5)
        y = y * MASKS[tuple(y.shape)] if tuple(y.shape) in MASKS else y
        y = y + torch.fft.fft(y).abs()
        return (y, whole)

def get_inputs():
    return [torch.randint(0, 100, (2, 3)).to(torch.int64)]

def get_init_inputs():
    return []

