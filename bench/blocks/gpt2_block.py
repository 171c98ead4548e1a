"""A block of GPT-2: 768 wide, 512 tokens, one row."""
import torch
from torch import nn
from transformers import GPT2Config, GPT2Model


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = GPT2Config(vocab_size=64, n_embd=768, n_head=12, n_layer=1, attn_implementation="sdpa")
        self.block = GPT2Model(config).h[0]
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.block(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(1, 512, 768)]


def get_init_inputs() -> list:
    return []
