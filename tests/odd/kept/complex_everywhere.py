# solved: a parameter, an input, a changed buffer and results are complex.
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = torch.nn.Parameter(torch.randn(48, dtype=torch.complex64))
        self.register_buffer("turn", torch.polar(torch.ones(48), torch.linspace(0, 3, 48)))

    def forward(self, x, y):
        self.turn.mul_(self.turn)
        turned = (x * self.mix - 2j) / (y.conj() + 3)
        return {"turned": turned, "size": turned.abs(), "phase": torch.exp(1j * y.real) * self.turn}


def get_inputs():
    return [torch.randn(40, 48, dtype=torch.complex64), torch.randn(40, 48, dtype=torch.complex64)]


def get_init_inputs():
    return []
