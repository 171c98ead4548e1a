"""The sparse mixture of experts of Mixtral: 768 wide, 8 experts, 2 for a token, 256 tokens, one row."""
import torch
from torch import nn
from transformers import MixtralConfig, MixtralModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = MixtralConfig(
            vocab_size=64, hidden_size=768, intermediate_size=1536, num_hidden_layers=1, num_attention_heads=12,
            num_key_value_heads=4, num_local_experts=8, num_experts_per_tok=2, initializer_range=0.04,
            attn_implementation="sdpa",
        )
        self.block = MixtralModel(config).layers[0].mlp
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.block(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(1, 256, 768)]


def get_init_inputs() -> list:
    return []
