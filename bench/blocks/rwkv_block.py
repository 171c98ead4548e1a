"""A block of RWKV (time mixing, then channel mixing): 768 wide, 128 tokens, two rows."""
import torch
from torch import nn
from transformers import RwkvConfig, RwkvModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = RwkvConfig(vocab_size=64, hidden_size=768, num_hidden_layers=2, context_length=128)
        self.block = RwkvModel(config).blocks[0]
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.block(x)[0]


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(2, 128, 768)]


def get_init_inputs() -> list:
    return []
