"""The mixer of Mamba (selective scan): 768 wide, 1536 inside, 16 states, 128 tokens, one row."""
import torch
from torch import nn
from transformers import MambaConfig, MambaModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = MambaConfig(vocab_size=64, hidden_size=768, state_size=16, num_hidden_layers=1, initializer_range=0.04)
        self.mixer = MambaModel(config).layers[0].mixer
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.mixer(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(1, 128, 768)]


def get_init_inputs() -> list:
    return []
