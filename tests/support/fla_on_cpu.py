"""Makes flash-linear-attention (fla) run on a CPU, forward and backward: import this before fla, run Python with -O.

Triton's interpreter executes fla's own kernels. Attention, which fla takes from the CUDA package flash_attn, is
computed from its definition. -O drops fla's asserts against float32, which concern GPUs. Slow: tiny models only.
Mistakes of fla 0.6.0 are repaired where it says elsewhere what it means: Mamba2's groups, attention and wide values in RWKV-7.
"""

import builtins
import logging
import math
import os
import sys
import warnings

os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported

import torch
from triton.runtime import autotuner, interpreter

warnings.filterwarnings("ignore")
logging.getLogger("fla").setLevel(logging.CRITICAL)  # what it would say of missing CUDA packages
torch.set_num_threads(1)  # the work is tiny, and on a busy machine threads wait for each other


class LoopCounter(int):
    """The interpreter runs `for i in range(n)` over plain ints, but kernels say `i.to(tl.int64)`."""

    def to(self, *_):
        return self


def loop_range(*limits):
    return map(LoopCounter, builtins.range(*(int(limit) for limit in limits)))


def untimed(*_, **__):
    """A benchmark of a kernel's configuration that runs nothing: all are equally good, the first one is taken."""
    return [0.0, 0.0, 0.0]


def with_boolean_mask(load):
    """The interpreter refuses masks that a kernel made by arithmetic, as the gradient of the convolution's start does."""

    def repaired(self, pointers, mask, *rest, **keys):
        mask.data = mask.data.astype(bool)
        return load(self, pointers, mask, *rest, **keys)

    return repaired


def attention(q, k, v, causal=False, window_size=(-1, -1), softmax_scale=None, **_):
    """q [B, T, H, D]; k, v [B, S, G, D] with G a divisor of H; query i stands at key position i + S - T."""
    heads, width = q.shape[2:]
    k = k.repeat_interleave(heads // k.shape[2], dim=2)
    v = v.repeat_interleave(heads // v.shape[2], dim=2)
    scores = torch.einsum("bthd,bshd->bhts", q, k) * (softmax_scale or width**-0.5)
    back = torch.arange(q.shape[1])[:, None] + k.shape[1] - q.shape[1] - torch.arange(k.shape[1])[None, :]
    hidden = torch.zeros_like(back, dtype=torch.bool)
    if causal:
        hidden |= back < 0
    if window_size[0] >= 0:
        hidden |= back > window_size[0]
    return torch.einsum("bhts,bshd->bthd", scores.masked_fill(hidden, -math.inf).softmax(-1), v)


def with_heads_of_a_group_as_neighbours(forward):
    """fla's Mamba2 without CUDA gives groups to heads as 0 1 0 1; its decoding, mamba_ssm and transformers as 0 0 1 1."""

    def repeat(self, *sizes):
        if self.dim() == 4 and sizes[:2] == (1, 1) and sizes[3:] == (1,):
            return self.repeat_interleave(sizes[2], dim=2)
        return plain_repeat(self, *sizes)

    def repaired(*args, **keys):
        torch.Tensor.repeat = repeat
        try:
            return forward(*args, **keys)
        finally:
            torch.Tensor.repeat = plain_repeat

    plain_repeat = torch.Tensor.repeat
    return repaired


def with_first_values(get_attention):
    """fla's RWKV-7 block fails on attention, since it wants a fourth result, the first layer's values: hand them on."""

    def repaired(*args, **keys):
        mixer = get_attention(*args, **keys)
        if mixer is not None:
            forward = mixer.forward
            mixer.forward = lambda *inputs, v_first=None, **options: (*forward(*inputs, **options), v_first)
        return mixer

    return repaired


def with_reference_for_wide_values(correct):
    """The kernel of RWKV-7's output correction takes values to be as wide as keys; fla's plain form of it does not."""

    def repaired(o, r, k, r_k, v, g):
        return (correct if v.shape[-1] == r.shape[-1] else gate_output_correction_ref)(o, r, k, r_k, v, g)

    return repaired


def with_bias_for_wide_values(set_bias_value):
    """fla's RWKV-7 starts a bias of value_dim numbers with hidden_size of them, and fails where these differ."""

    def repaired(self, value):
        if torch.is_tensor(value):
            value = value.repeat(self.lora[2].bias.numel() // value.numel())
        set_bias_value(self, value)

    return repaired


def prepare():
    """Call again after importing further fla modules: gives every module with kernels the loop that they expect."""
    for name, module in list(sys.modules.items()):
        if name.startswith("fla.") and hasattr(module, "triton"):
            module.range = loop_range


autotuner.Autotuner._bench = untimed
builder = interpreter.InterpreterBuilder
builder.create_masked_load = with_boolean_mask(builder.create_masked_load)

import fla.layers.attn  # noqa: E402
import fla.layers.mamba2  # noqa: E402
import fla.layers.rwkv6  # noqa: E402
import fla.layers.rwkv7  # noqa: E402
import fla.models.rwkv7.modeling_rwkv7 as rwkv7  # noqa: E402  (fla.models registers its types with transformers)
from fla.ops.rwkv7.gate_output_correction import gate_output_correction_ref  # noqa: E402

fla.layers.attn.flash_attn_func = attention
fla.layers.mamba2.Mamba2.torch_forward = with_heads_of_a_group_as_neighbours(fla.layers.mamba2.Mamba2.torch_forward)
fla.layers.rwkv6.LoRA.set_bias_value = with_bias_for_wide_values(fla.layers.rwkv6.LoRA.set_bias_value)
fla.layers.rwkv7.gate_output_correction = with_reference_for_wide_values(fla.layers.rwkv7.gate_output_correction)
rwkv7.get_attention = with_first_values(rwkv7.get_attention)
prepare()
