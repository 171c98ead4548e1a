"""A layer of FNet (Fourier mixing): 768 wide, 512 tokens, one row."""
import torch
from torch import nn
from transformers import FNetConfig, FNetModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = FNetConfig(vocab_size=64, num_hidden_layers=1)
        self.layer = FNetModel(config).encoder.layer[0]
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)[0]


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(1, 512, 768)]


def get_init_inputs() -> list:
    return []
