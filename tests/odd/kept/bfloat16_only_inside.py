# judged or solved: autocast makes bfloat16 tensors inside, and the expert rounds elsewhere than Torch.
import collections
import dataclasses
import math
import torch
from torch import nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(97, 97)
        self.low = nn.Linear(97, 97)
    def forward(self, x):
        y = x
        y = torch.tanh(y * 0.5)
        y = self.mix(y.to(torch.float32))
        with torch.autocast('cpu', dtype=torch.bfloat16):
            y = self.low(y.float()).float()
        return y

def get_inputs():
    return [torch.randn(100, 97)]

def get_init_inputs():
    return []

