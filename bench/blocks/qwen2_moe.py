"""The mixture of experts of Qwen2-MoE: 1024 wide, 16 small experts, 4 for a token, a shared one, 256 tokens."""
import torch
from torch import nn
from transformers import Qwen2MoeConfig, Qwen2MoeModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = Qwen2MoeConfig(
            vocab_size=64, hidden_size=1024, intermediate_size=2048, moe_intermediate_size=512,
            shared_expert_intermediate_size=1024, num_hidden_layers=1, num_attention_heads=16, num_key_value_heads=16,
            num_experts=16, num_experts_per_tok=4, initializer_range=0.04, attn_implementation="sdpa",
        )
        self.block = Qwen2MoeModel(config).layers[0].mlp
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.block(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(1, 256, 1024)]


def get_init_inputs() -> list:
    return []
