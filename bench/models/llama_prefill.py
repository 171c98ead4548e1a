"""Llama prefill: SmolLM2-135M's sizes (30 layers of 576, 9 heads on 3, MLP 1536, 49152 tokens), 1 x 128 tokens."""

import torch
from transformers import AutoModelForCausalLM, LlamaConfig

CONFIG = LlamaConfig(
    vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9,
    num_key_value_heads=3, max_position_embeddings=8192, rms_norm_eps=1e-5, tie_word_embeddings=True,
    bos_token_id=1, eos_token_id=2, rope_parameters={"rope_type": "default", "rope_theta": 100000.0},
)  # fmt: skip


def build() -> torch.nn.Module:
    return AutoModelForCausalLM.from_config(CONFIG, dtype=torch.float32).eval()


def inputs() -> list[dict | tuple]:
    ids = torch.randint(3, CONFIG.vocab_size, (1, 128))
    return [{"input_ids": ids, "attention_mask": torch.ones_like(ids)}]
