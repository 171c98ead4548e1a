"""Mixtral prefill: 8 experts, 2 a token, a quarter of 8x7B's width (1024, MLP 3584) and 6 layers, 1 x 128 tokens."""

import torch
from transformers import AutoModelForCausalLM, MixtralConfig

CONFIG = MixtralConfig(
    vocab_size=32000, hidden_size=1024, intermediate_size=3584, num_hidden_layers=6, num_attention_heads=16,
    num_key_value_heads=4, max_position_embeddings=32768, num_local_experts=8, num_experts_per_tok=2,
    rope_parameters={"rope_type": "default", "rope_theta": 1000000.0},
)  # fmt: skip


def build() -> torch.nn.Module:
    return AutoModelForCausalLM.from_config(CONFIG, dtype=torch.float32).eval()


def inputs() -> list[dict | tuple]:
    ids = torch.randint(3, CONFIG.vocab_size, (1, 128))
    return [{"input_ids": ids, "attention_mask": torch.ones_like(ids)}]
