"""The time mixing of RWKV 4: a weighted mean of all values so far, with exponents kept in range."""
import torch
import torch.nn as nn

LENGTH = 2048


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.decay = nn.Parameter(torch.linspace(-3.0, 1.0, channels))
        self.first = nn.Parameter(torch.linspace(-0.5, 0.5, channels))
        self.mix = nn.Parameter(torch.rand(3, channels))
        self.receptance = nn.Linear(channels, channels, bias=False)
        self.key = nn.Linear(channels, channels, bias=False)
        self.value = nn.Linear(channels, channels, bias=False)
        self.output = nn.Linear(channels, channels, bias=False)

    def forward(self, x):
        before = torch.nn.functional.pad(x, (0, 0, 1, -1))
        r, k, v = (x * m + before * (1 - m) for m in self.mix)
        r, k, v = torch.sigmoid(self.receptance(r)), self.key(k), self.value(v)
        decay = -torch.exp(self.decay)
        above = torch.zeros_like(x[:, 0])
        below = torch.zeros_like(above)
        largest = torch.full_like(above, -1e38)
        out = []
        for t in range(x.shape[1]):
            kt, vt = k[:, t], v[:, t]
            most = torch.maximum(largest, self.first + kt)
            old, new = torch.exp(largest - most), torch.exp(self.first + kt - most)
            out.append((old * above + new * vt) / (old * below + new))
            most = torch.maximum(largest + decay, kt)
            old, new = torch.exp(largest + decay - most), torch.exp(kt - most)
            above, below, largest = old * above + new * vt, old * below + new, most
        return self.output(r * torch.stack(out, dim=1))


def get_inputs():
    return [torch.randn(4, LENGTH, 512)]


def get_init_inputs():
    return [512]
