"""The attention of Llama, with the rotary cosines and sines as inputs: 1024 wide, 512 tokens, two rows."""
import torch
from torch import nn
from transformers import LlamaConfig, LlamaModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = LlamaConfig(
            vocab_size=64, hidden_size=1024, intermediate_size=2816, num_hidden_layers=1, num_attention_heads=16,
            num_key_value_heads=4, initializer_range=0.04, attn_implementation="sdpa",
        )
        self.attention = LlamaModel(config).layers[0].self_attn
        self.eval()

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        return self.attention(x, position_embeddings=(cos, sin))[0]


def get_inputs() -> list[torch.Tensor]:
    frequencies = 10000.0 ** (-torch.arange(0, 64, 2) / 64)
    angles = torch.arange(512)[:, None] * frequencies
    angles = torch.cat([angles, angles], dim=-1)[None]
    return [torch.randn(2, 512, 1024), angles.cos(), angles.sin()]


def get_init_inputs() -> list:
    return []
