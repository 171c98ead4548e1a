"""Llama prefill in bfloat16: Llama-3.2-1B's sizes (16 layers of 2048, 32 heads on 8, MLP 8192), 1 x 2048 tokens."""

import torch
from transformers import AutoModelForCausalLM, LlamaConfig

CONFIG = LlamaConfig(
    vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
    num_key_value_heads=8, max_position_embeddings=131072, rms_norm_eps=1e-5, tie_word_embeddings=True,
    bos_token_id=1, eos_token_id=2, rope_parameters={"rope_type": "default", "rope_theta": 500000.0},
)  # fmt: skip


def build() -> torch.nn.Module:
    return AutoModelForCausalLM.from_config(CONFIG, dtype=torch.bfloat16).eval()


def inputs() -> list[dict | tuple]:
    ids = torch.randint(3, CONFIG.vocab_size, (1, 2048))
    return [{"input_ids": ids, "attention_mask": torch.ones_like(ids), "use_cache": False, "logits_to_keep": 1}]
