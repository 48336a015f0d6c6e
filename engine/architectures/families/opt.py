"""OPT (Zhang et al. 2022): learned positions, LayerNorm, biases, plain ReLU."""

from engine.architectures.family import Activation, Family

FAMILY = Family(
    rope="none",
    learned_positions=True,
    layer_norm=True,
    activation=Activation.PLAIN_RELU,
    biases=("attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down"),
)
