# solved: Two kernels with Torch's operator between them, and arguments with names that the exported code uses itself.
import torch


class Model(torch.nn.Module):
    def forward(self, owner, scratch, packed):
        first = torch.tanh(owner * scratch + packed)
        square = first @ first.transpose(-1, -2) + 2 * torch.eye(6)
        return torch.linalg.inv(square).sum(-1) * packed.sum(-1)


def get_inputs():
    return [torch.randn(300, 6, 6), torch.randn(300, 6, 6), torch.randn(300, 6, 6)]


def get_init_inputs():
    return []
