"""Which keys of a config change what a model of fla's or Qwen3's families has or computes; by changing one at a time.

The weights stay the same where they still fit, so keys that only concern the initialisation or the loss change nothing.
"""

import torch
import transformers
from fla_model_specs import COMMON, FAMILIES, make_config, spec

# Other values than the plain models have; keys that are not here are of no use to try (names, token ids, sizes).
OTHER = dict(
    A_init_range=(2, 3),
    D_has_hdim=True,
    allow_neg_eigval=None,  # None: the opposite
    attention_bias=True,
    attention_dropout=0.5,
    attn_mode="fused_recurrent",
    chunk_size=8,
    conv_init=0.1,
    conv_kernel=3,
    conv_size=3,
    dt_init_floor=0.01,
    dt_limit=(0.01, 0.1),
    dt_max=1.0,
    dt_min=0.01,
    elementwise_affine=False,
    expand=1,
    expand_k=1,
    expand_v=3,
    fuse_cross_entropy=None,
    fuse_linear_cross_entropy=None,
    fuse_norm=None,
    fuse_swiglu=None,
    head_dim=4,
    hidden_act="relu",
    hidden_ratio=8,
    initializer_range=0.5,
    intermediate_size=None,
    lower_bound=-2.0,
    max_position_embeddings=8,
    max_window_layers=0,
    n_groups=2,
    norm_before_gate=None,
    norm_bias=None,
    norm_eps=0.1,
    norm_first=None,
    num_heads=1,
    num_householder=2,
    num_key_value_heads=1,
    num_kv_heads=1,
    num_v_heads=4,
    output_gate_activation="sigmoid",
    qk_activation="relu",
    qk_norm="sum",
    qkv_bias=True,
    rescale_prenorm_residual=None,
    residual_in_fp32=None,
    rms_norm_eps=0.1,
    rmsnorm=None,
    rope_theta=100.0,
    safe_gate=None,
    sliding_window=4,
    state_size=8,
    tie_word_embeddings=True,
    use_beta=None,
    use_bias=None,
    use_cache=None,
    use_conv_bias=None,
    use_forget_gate=None,
    use_gate=None,
    use_l2warp=None,
    use_output_gate=None,
    use_output_norm=None,
    use_short_conv=None,
    use_sliding_window=None,
    window_size=4,
)


def other_value(family, key, value):
    if key == "qk_norm" and family == "transformer":
        return True
    if key == "intermediate_size":
        return None
    other = OTHER[key]
    return (not value) if other is None else other


def build(family, keys, weights=None):
    """Logits of fixed ids, and the parameters."""
    torch.manual_seed(3)
    model = transformers.AutoModelForCausalLM.from_config(make_config(spec(family, **keys))).float().eval()
    if weights is None:
        with torch.no_grad():
            for p in model.parameters():
                p.add_(0.3 * torch.randn(p.shape))
    else:
        fitting = {n: x for n, x in weights.items() if n in model.state_dict() and model.state_dict()[n].shape == x.shape}
        model.load_state_dict(fitting, strict=False)
    ids = torch.randint(3, COMMON["vocab_size"], (2, 20), generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        return model(input_ids=ids).logits, {n: x.clone() for n, x in model.named_parameters()}


def effect(family, key, value, plain, weights):
    try:
        logits, parameters = build(family, {key: value}, weights)
    except Exception as error:
        return f"refused ({type(error).__name__}: {str(error).splitlines()[0][:90]})"
    if {n: x.shape for n, x in parameters.items()} != {n: x.shape for n, x in weights.items()}:
        return "parameters"
    difference = (logits - plain).abs().max().item()
    return "nothing" if difference < 1e-5 else f"logits ({difference:.0e})"


def print_keys(families):
    for family in families or FAMILIES:
        config = make_config(spec(family)).to_dict()
        plain, weights = build(family, {})
        print(f"\n{family}\n\n| key | from | to | changes |\n| --- | --- | --- | --- |")
        for key in sorted(set(config) & set(OTHER)):
            value = other_value(family, key, config[key])
            if value != config[key]:
                print(f"| {key} | {config[key]} | {value} | {effect(family, key, value, plain, weights)} |", flush=True)
    return 0
