"""The gated delta rule: a matrix of keys and values that forgets, and is corrected by what it predicts."""
import torch
import torch.nn as nn
import torch.nn.functional as F

LENGTH = 2048


class Model(nn.Module):
    def forward(self, q, k, v, gate, rate):
        q = F.normalize(q, dim=-1) * q.shape[-1] ** -0.5
        k = F.normalize(k, dim=-1)
        keep, rate = torch.exp(-F.softplus(gate)), torch.sigmoid(rate)
        memory = q.new_zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3])
        out = []
        for t in range(q.shape[1]):
            memory = memory * keep[:, t, :, None, None]
            known = (memory * k[:, t, :, :, None]).sum(-2)
            change = (v[:, t] - known) * rate[:, t, :, None]
            memory = memory + k[:, t, :, :, None] * change[:, :, None, :]
            out.append((memory * q[:, t, :, :, None]).sum(-2))
        return torch.stack(out, dim=1), memory


def get_inputs():
    heads = [torch.randn(1, LENGTH, 8, 64) for _ in range(3)]
    return [*heads, torch.randn(1, LENGTH, 8), torch.randn(1, LENGTH, 8)]


def get_init_inputs():
    return []
