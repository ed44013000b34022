"""The tiny models that fla_models.py makes: family, keys of the config, and the shape of the token ids.

A name says what differs from the family's plain model. Lengths over 64 make fla use chunks where it has a choice.
"""

import fla.models
import transformers

COMMON = dict(vocab_size=24, bos_token_id=1, eos_token_id=2, pad_token_id=None, use_cache=False)
UNFUSED = dict(fuse_norm=False, fuse_cross_entropy=False)

# The plain model of each family; what a spec gives is laid over it.
FAMILIES = {
    "delta_net": (
        fla.models.DeltaNetConfig,
        dict(hidden_size=16, expand_k=2, expand_v=2, num_hidden_layers=1, num_heads=2, intermediate_size=16)
        | dict(allow_neg_eigval=True),
    ),
    "gated_deltanet": (
        fla.models.GatedDeltaNetConfig,
        dict(hidden_size=16, num_hidden_layers=1, num_heads=2, head_dim=16, expand_v=1, intermediate_size=16),
    ),
    "gated_deltaproduct": (
        fla.models.GatedDeltaProductConfig,
        dict(hidden_size=16, num_hidden_layers=1, num_heads=2, head_dim=16, expand_v=1, intermediate_size=16),
    ),
    "kda": (
        fla.models.KDAConfig,
        dict(hidden_size=16, num_hidden_layers=1, num_heads=2, head_dim=16, intermediate_size=16),
    ),
    "rwkv7": (
        fla.models.RWKV7Config,
        dict(hidden_size=16, num_hidden_layers=2, head_dim=8, intermediate_size=16, decay_low_rank_dim=4)
        | dict(gate_low_rank_dim=4, a_low_rank_dim=4, v_low_rank_dim=4),
    ),
    "mamba2": (
        fla.models.Mamba2Config,
        dict(hidden_size=16, num_hidden_layers=1, head_dim=8, state_size=16, expand=2, chunk_size=32),
    ),
    "transformer": (
        fla.models.TransformerConfig,
        dict(hidden_size=16, num_hidden_layers=1, num_heads=4, num_kv_heads=2, intermediate_size=16),
    ),
    "qwen3": (
        transformers.Qwen3Config,
        dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=6)
        | dict(intermediate_size=16, max_position_embeddings=128, attn_implementation="eager"),
    ),
}

# What config.json of a real model may say in these places; "shape" is [sequences, tokens].
SHORT, LONG = (2, 24), (1, 70)
ATTENTION = dict(layers=[1], num_heads=4, num_kv_heads=2, qkv_bias=True, window_size=9, rope_theta=500.0)


def spec(family, shape=SHORT, **keys):
    return dict(family=family, shape=shape, keys=keys)


def specs(family, **named):
    return {f"{family}-{name.replace('_', '-')}": spec(family, **keys) for name, keys in named.items()}


SPECS = {
    **specs(
        "delta_net",
        sum_elu=dict(qk_norm="sum", qk_activation="elu", shape=LONG),
        sum_relu=dict(qk_norm="sum", qk_activation="relu"),
        sum_silu=dict(qk_norm="sum", qk_activation="silu"),
        sum_identity=dict(qk_norm="sum", qk_activation="identity"),
        relu=dict(qk_activation="relu"),
        elu=dict(qk_activation="elu"),
        no_beta=dict(use_beta=False, allow_neg_eigval=False),
        no_beta_negative=dict(use_beta=False, shape=LONG),
        conv_2=dict(conv_size=2),
        conv_3=dict(conv_size=3, qk_activation="identity"),
        no_conv_silu=dict(use_short_conv=False, use_gate=True),
        narrow_keys=dict(hidden_size=32, expand_k=0.5, expand_v=1, shape=LONG),
        wide_keys=dict(expand_v=1, num_heads=1, shape=LONG),
        hybrid=dict(num_hidden_layers=2, attn=ATTENTION),
        hybrid_list=dict(
            num_hidden_layers=3,
            attn=[ATTENTION | dict(layers=[2], num_heads=2, num_kv_heads=1), dict(layers=[0], num_heads=1)],
        ),
        norm_eps=dict(norm_eps=0.01, hidden_size=8, num_heads=1, intermediate_size=None, hidden_ratio=2),
        fused=dict(fuse_norm=True, fuse_swiglu=True),
        tied=dict(tie_word_embeddings=True),
    ),
    **specs(
        "gated_deltanet",
        value_heads=dict(num_v_heads=4, shape=LONG),
        no_gate=dict(use_gate=False, allow_neg_eigval=True),
        no_conv=dict(use_short_conv=False, allow_neg_eigval=True),
        non_negative=dict(expand_v=2, conv_size=3, shape=LONG),
        sigmoid_gate=dict(output_gate_activation="sigmoid"),
        silu_gate=dict(output_gate_activation="silu", allow_neg_eigval=True),
        hybrid=dict(num_hidden_layers=2, attn=ATTENTION),
        tied=dict(tie_word_embeddings=True),
    ),
    **specs(
        "gated_deltaproduct",
        one=dict(num_householder=1, allow_neg_eigval=True),
        one_forget=dict(num_householder=1, allow_neg_eigval=True, use_forget_gate=True, shape=LONG),
        no_output_gate=dict(num_householder=2, use_output_gate=False, allow_neg_eigval=True, use_forget_gate=True),
        no_conv=dict(num_householder=2, use_short_conv=False, allow_neg_eigval=True),
        non_negative=dict(num_householder=3, expand_v=2, use_forget_gate=True, shape=(1, 40)),
        hybrid=dict(num_householder=2, allow_neg_eigval=True, num_hidden_layers=2, attn=ATTENTION),
        tied=dict(num_householder=2, tie_word_embeddings=True),
    ),
    **specs(
        "kda",
        value_heads=dict(num_v_heads=4, shape=LONG),
        lower_bound=dict(lower_bound=-2.0, allow_neg_eigval=True),
        no_conv=dict(use_short_conv=False, allow_neg_eigval=True),
        wide_values=dict(expand_v=2, conv_size=3, shape=LONG),
        hybrid=dict(num_hidden_layers=2, attn=ATTENTION),
        tied=dict(tie_word_embeddings=True),
    ),
    **specs(
        "rwkv7",
        three=dict(num_hidden_layers=3, head_dim=16, shape=LONG),
        hybrid=dict(num_hidden_layers=3, attn=ATTENTION),
        norm_later=dict(norm_first=False),
        no_norm_bias=dict(norm_bias=False),
        wide_values=dict(value_dim=32),
        ratio=dict(intermediate_size=None, hidden_ratio=2.5, head_dim=None, num_heads=2),
        relu=dict(hidden_act="relu"),
        fused=dict(fuse_norm=True),
        tied=dict(tie_word_embeddings=True),
    ),
    **specs(
        "mamba2",
        groups=dict(n_groups=2, shape=LONG),
        bias=dict(use_bias=True, conv_kernel=3),
        norm_before_gate=dict(norm_before_gate=True, n_groups=2),
        no_norm=dict(rmsnorm=False),
        no_norm_before_gate=dict(rmsnorm=False, norm_before_gate=True, num_hidden_layers=2),
        skip_by_channel=dict(D_has_hdim=True),
        no_conv_bias=dict(use_conv_bias=False),
        dt_limit=dict(dt_limit=(0.01, 0.1)),
        residual=dict(residual_in_fp32=False, num_hidden_layers=2),
        expand_1=dict(expand=1, hidden_act="relu"),
        tied=dict(tie_word_embeddings=True),
    ),
    **specs(
        "transformer",
        qk_norm=dict(qk_norm=True, norm_eps=0.01),
        window=dict(window_size=7),
        bias=dict(qkv_bias=True, rope_theta=500.0),
        mha=dict(num_kv_heads=None, shape=LONG),
        ratio=dict(hidden_size=8, num_heads=2, num_kv_heads=1, intermediate_size=None),
        tied=dict(tie_word_embeddings=True, num_hidden_layers=2),
    ),
    **specs(
        "qwen3",
        bias=dict(attention_bias=True, rope_theta=500.0),
        sliding=dict(use_sliding_window=True, sliding_window=6, layer_types=["sliding_attention", "full_attention"]),
        sliding_later=dict(use_sliding_window=True, sliding_window=6, max_window_layers=1, num_key_value_heads=4),
        sliding_tied=dict(
            use_sliding_window=True, sliding_window=6, max_window_layers=0, tie_word_embeddings=True, rms_norm_eps=0.01
        ),
    ),
}


def make_config(spec):
    kind, plain = FAMILIES[spec["family"]]
    switches = {} if spec["family"] == "qwen3" else UNFUSED
    if spec["family"] not in ("qwen3", "rwkv7", "mamba2"):
        switches = switches | dict(fuse_swiglu=False)
    return kind(**{**COMMON, **switches, **plain, **spec["keys"]})
