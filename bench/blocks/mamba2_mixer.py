"""The mixer of Mamba 2 (scan in chunks of 64): 768 wide, 24 heads, 128 states, 512 tokens, one row."""
import torch
from torch import nn
from transformers import Mamba2Config, Mamba2Model


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = Mamba2Config(
            vocab_size=64, hidden_size=768, num_heads=24, head_dim=64, state_size=128, n_groups=1, chunk_size=64,
            num_hidden_layers=1, initializer_range=0.04,
        )
        self.mixer = Mamba2Model(config).layers[0].mixer
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.mixer(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(1, 512, 768)]


def get_init_inputs() -> list:
    return []
