"""Writes single operations as fla, transformers and torch compute them, with gradients, for kernel tests.

  python -O fla_operations.py OUTPUT [NAME ...]

A file holds inputs, outputs, upstream gradients d_<output> and gradients d_<input>, fp32, layout [B, T, heads, width].
Where fla has a chunked and a recurrent form, the one with a gradient is kept, and both are compared with the definition
in double: the relative rms of the worst output and gradient is printed. Needs what fla_models.py needs.
"""

import os
import sys
import zlib

import fla_on_cpu  # before fla
import recurrences

import torch
import torch.nn.functional as F
from fla.modules import FusedRMSNormGated, RMSNorm, RotaryEmbedding
from fla.modules.convolution import causal_conv1d
from fla.modules.l2norm import l2norm
from fla.ops.delta_rule import chunk_delta_rule, fused_recurrent_delta_rule
from fla.ops.gated_delta_product import chunk_gated_delta_product
from fla.ops.gated_delta_rule import chunk_gated_delta_rule, fused_recurrent_gated_delta_rule
from fla.ops.kda import chunk_kda, fused_recurrent_kda
from fla.ops.rwkv7 import chunk_rwkv7, fused_recurrent_rwkv7
from safetensors.torch import save_file
from transformers.models.mamba2.modeling_mamba2 import mamba2_chunk_scan

fla_on_cpu.prepare()


class Draw:
    """Random inputs of one operation, from a seed of its own."""

    def __init__(self, name):
        self.generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))

    def normal(self, *shape):
        return torch.randn(*shape, generator=self.generator)

    def unit(self, *shape):
        return F.normalize(self.normal(*shape), dim=-1)

    def beta(self, *shape):
        """In (0, 2), with an exact 0, 1 and 2 at tokens 5, 6 and 7."""
        beta = 2 * self.normal(*shape).mul(2).sigmoid()
        beta[:, 5], beta[:, 6], beta[:, 7] = 0, 1, 2
        return beta

    def log_decay(self, *shape):
        return F.logsigmoid(2 + self.normal(*shape))


def results(function, inputs, outputs, upstream):
    """Outputs and gradients by name."""
    inputs = {n: x.detach().clone().requires_grad_() for n, x in inputs.items()}
    made = dict(zip(outputs, function(**inputs)))
    total = sum((made[n] * upstream[n]).sum() for n in outputs)
    grads = torch.autograd.grad(total, list(inputs.values()))
    return {n: x.detach() for n, x in made.items()} | {f"d_{n}": x for n, x in zip(inputs, grads)}


def worst(made, reference):
    """The largest rms(error) / (rms(reference) + 1e-8), and where."""

    def ratio(n):
        error = (made[n].double() - reference[n].double()).square().mean().sqrt()
        return (error / (reference[n].double().square().mean().sqrt() + 1e-8)).item()

    name = max(made, key=ratio)
    return f"{ratio(name):.1e} ({name})"


def operation(draw, inputs, outputs, library, definition=None, forward_only=None, keep_definition=False):
    """Runs `library` (and what it is compared with) and returns the tensors of the file."""
    with torch.no_grad():
        upstream = {n: draw.normal(*x.shape) for n, x in zip(outputs, library(**inputs))}
    made = results(library, inputs, outputs, upstream)
    if definition is not None:
        exact = results(definition, inputs, outputs, upstream)
        print("  to the definition:", worst(made, exact))
        if forward_only is not None:
            with torch.no_grad():
                print("  recurrent form:", worst(dict(zip(outputs, forward_only(**inputs))), exact))
        made = exact if keep_definition else made
    return inputs | made | {f"d_{n}": x for n, x in upstream.items()}


def delta_rule(draw, batch, tokens, heads, width, raw=False):
    """With `raw`, q and k are of any length and the operation normalises them."""
    shape = (batch, tokens, heads, width)
    vector = draw.normal if raw else draw.unit
    inputs = dict(q=vector(*shape), k=vector(*shape), v=draw.normal(*shape), beta=draw.beta(*shape[:3]))
    inputs["k"][:, 11] = inputs["k"][:, 10]
    inputs["h0"] = draw.normal(batch, heads, width, width)

    def by(function):
        return lambda h0, **x: function(**x, initial_state=h0, output_final_state=True, use_qk_l2norm_in_kernel=raw)

    def definition(q, k, v, beta, h0):
        q, k = (recurrences.unit(x.double()) if raw else x for x in (q, k))
        return recurrences.delta_rule(q, k, v, beta, h0=h0)

    print("  chunked form:", end="")
    operation(draw, inputs, ["o", "ht"], by(chunk_delta_rule), definition)
    return operation(draw, inputs, ["o", "ht"], by(fused_recurrent_delta_rule), definition)


def gated(draw, per_channel):
    """Two value heads for each key head; one log decay a head, or one for each of its key channels."""
    batch, tokens, heads, values, key, value = 1, 70, 1, 2, 16, 16
    inputs = dict(
        q=draw.unit(batch, tokens, heads, key),
        k=draw.unit(batch, tokens, heads, key),
        v=draw.normal(batch, tokens, values, value),
        g=draw.log_decay(batch, tokens, values, *([key] if per_channel else [])),
        beta=draw.beta(batch, tokens, values),
        h0=draw.normal(batch, values, key, value),
    )
    chunk = chunk_kda if per_channel else chunk_gated_delta_rule
    recurrent = fused_recurrent_kda if per_channel else fused_recurrent_gated_delta_rule

    def by(function):
        return lambda h0, **x: function(**x, initial_state=h0, output_final_state=True)

    def definition(g, **x):
        return recurrences.delta_rule(**x, **{"gk" if per_channel else "g": g})

    return operation(draw, inputs, ["o", "ht"], by(chunk), definition, by(recurrent))


def delta_product(draw):
    batch, tokens, heads, key, value, steps = 1, 35, 2, 16, 16, 2
    inputs = dict(
        q=draw.unit(batch, tokens, heads, key),
        k=draw.unit(batch, tokens * steps, heads, key),
        v=draw.normal(batch, tokens * steps, heads, value),
        g=draw.log_decay(batch, tokens, heads),
        beta=draw.beta(batch, tokens * steps, heads),
        h0=draw.normal(batch, heads, key, value),
    )

    def library(h0, **x):
        return chunk_gated_delta_product(**x, num_householder=steps, initial_state=h0, output_final_state=True)

    return operation(draw, inputs, ["o", "ht"], library, lambda **x: recurrences.delta_rule(**x, steps=steps))


def two_sided_gradients(draw):
    """fla has no gradient here: the definition's."""
    batch, tokens, heads, key, value = 1, 40, 2, 16, 8
    inputs = dict(
        q=draw.unit(batch, tokens, heads, key),
        k=draw.unit(batch, tokens, heads, key),
        v=draw.normal(batch, tokens, heads, value),
        beta=draw.beta(batch, tokens, heads),
        g=draw.log_decay(batch, tokens, heads),
        gk=draw.log_decay(batch, tokens, heads, key),
        gv=draw.log_decay(batch, tokens, heads, value),
        h0=draw.normal(batch, heads, key, value),
    )
    with torch.no_grad():
        h0, rest = inputs["h0"], {n: x for n, x in inputs.items() if n != "h0"}
        made = fused_recurrent_gated_delta_rule(**rest, initial_state=h0, output_final_state=True)
    tensors = operation(draw, inputs, ["o", "ht"], recurrences.delta_rule)
    print("  fla's forward:", worst(dict(zip(["o", "ht"], made)), tensors))
    return tensors


def rwkv7(draw):
    """S <- Diag(e^w) S + b (a^T S) + k v^T, o = S^T r; as in the layer a = -kappa, b = kappa times a rate in (0, 1)."""
    batch, tokens, heads, key, value = 1, 33, 2, 16, 32
    kappa = draw.unit(batch, tokens, heads, key)
    inputs = dict(
        r=draw.normal(batch, tokens, heads, key),
        w=-0.6065306597126334 * draw.normal(batch, tokens, heads, key).sigmoid(),
        k=draw.normal(batch, tokens, heads, key),
        v=draw.normal(batch, tokens, heads, value),
        a=-kappa,
        b=kappa * draw.normal(batch, tokens, heads, key).sigmoid(),
        h0=draw.normal(batch, heads, key, value),
    )

    def chunk(h0, **x):
        options = dict(safe_gate=True, lower_bound=-0.6065306597126334, chunk_size=64)  # as the layer has them
        return chunk_rwkv7(**x, **options, initial_state=h0, output_final_state=True)

    def recurrent(h0, **x):
        return fused_recurrent_rwkv7(**x, scale=1.0, initial_state=h0, output_final_state=True)

    return operation(draw, inputs, ["o", "ht"], chunk, recurrences.rwkv7, recurrent, keep_definition=True)


def ssd(draw):
    """Mamba2's scan with 2 groups for 4 heads: dt is what multiplies (softplus and clamp done), a is negative."""
    batch, tokens, heads, groups, width, state = 1, 70, 4, 2, 8, 16
    inputs = dict(
        x=draw.normal(batch, tokens, heads, width),
        dt=F.softplus(draw.normal(batch, tokens, heads) - 1),
        a=-draw.normal(heads).exp(),
        b=draw.normal(batch, tokens, groups, state),
        c=draw.normal(batch, tokens, groups, state),
        d=draw.normal(heads),
        h0=draw.normal(batch, heads, width, state),
    )

    def library(x, dt, a, b, c, d, h0):
        return mamba2_chunk_scan(x, dt, a, b, c, 32, D=d, initial_states=h0, return_final_states=True)

    return operation(draw, inputs, ["y", "ht"], library, recurrences.ssd)


def rotary(draw):
    """Half-split pairs, theta 10000, positions from 3 on."""
    inputs = dict(q=draw.normal(1, 20, 2, 16), k=draw.normal(1, 20, 1, 16))
    table = RotaryEmbedding(dim=16, base=10000.0)

    def definition(q, k):
        angle = torch.arange(3, 23).double()[:, None] * 10000.0 ** (-torch.arange(8).double() / 8)
        cos, sin = angle.cos()[:, None], angle.sin()[:, None]
        halves = [x.double().chunk(2, dim=-1) for x in (q, k)]
        return [torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1) for a, b in halves]

    return operation(draw, inputs, ["q_out", "k_out"], lambda q, k: table(q, k, seqlen_offset=3), definition)


def gated_rms_norm(draw, activation):
    """norm(x) * weight * activation(g), eps 1e-5."""
    inputs = dict(x=draw.normal(2, 9, 2, 24), g=draw.normal(2, 9, 2, 24), weight=1 + 0.2 * draw.normal(24))
    layer = FusedRMSNormGated(24, eps=1e-5, activation=activation)

    def library(x, g, weight):
        return [torch.func.functional_call(layer, {"weight": weight}, (x, g))]

    def definition(x, g, weight):
        x, g = x.double(), g.double()
        gate = g.sigmoid() if activation == "sigmoid" else F.silu(g)
        return [x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight * gate]

    return operation(draw, inputs, ["y"], library, definition)


def rms_norm(draw):
    """eps 1e-2, so that it counts."""
    inputs = dict(x=draw.normal(2, 9, 24), weight=1 + 0.2 * draw.normal(24))
    layer = RMSNorm(24, eps=1e-2)

    def definition(x, weight):
        return [x.double() / (x.double().square().mean(-1, keepdim=True) + 1e-2).sqrt() * weight]

    def library(x, weight):
        return [torch.func.functional_call(layer, {"weight": weight}, (x,))]

    return operation(draw, inputs, ["y"], library, definition)


def l2_norm(draw):
    """The rows get shorter, down to zero, so that the eps 1e-6 counts."""
    x = draw.normal(2, 10, 2, 16) * 10.0 ** -torch.arange(10)[:, None, None]
    x[:, 9] = 0
    return operation(draw, dict(x=x), ["y"], lambda x: [l2norm(x)], lambda x: [recurrences.unit(x.double())])


def short_convolution(draw, activation, bias):
    """y_t = sum_i weight[d, i] x_{t-W+1+i} (+ bias), then SiLU or nothing; h0 and ht are the last W - 1 inputs, [B, D, W - 1].

    fla keeps W inputs, the oldest of which is never read, and gives it no gradient.
    """
    width, taps = 24, 4
    inputs = dict(x=draw.normal(2, 19, width), weight=0.5 * draw.normal(width, taps))
    if bias:
        inputs["bias"] = draw.normal(width)
    inputs["h0"] = draw.normal(2, width, taps - 1)

    def library(h0, **x):
        y, ht = causal_conv1d(**x, initial_state=F.pad(h0, (1, 0)), output_final_state=True, activation=activation)
        return [y, ht[..., 1:]]

    def definition(x, weight, h0, bias=None):
        inputs = torch.cat((h0, x.transpose(1, 2)), dim=-1).double()
        y = F.conv1d(inputs, weight.double()[:, None], groups=width).transpose(1, 2)
        y = y if bias is None else y + bias
        return [F.silu(y) if activation else y, inputs[..., 1 - taps :]]

    return operation(draw, inputs, ["y", "ht"], library, definition)


def torch_cell(draw, kind):
    """torch.nn.LSTM or GRU: gates in the order i, f, g, o or r, z, n along the rows of the weights; x [B, T, in]."""
    layer = kind(6, 8, batch_first=True)
    inputs = {n: draw.normal(*p.shape) / 8**0.5 for n, p in layer.named_parameters()}
    inputs = dict(x=draw.normal(3, 20, 6), h0=draw.normal(3, 8)) | inputs
    if kind is torch.nn.LSTM:
        inputs["c0"] = draw.normal(3, 8)

    def library(x, h0, c0=None, **weights):
        state = h0[None] if c0 is None else (h0[None], c0[None])
        y, last = torch.func.functional_call(layer, weights, (x, state))
        return [y, last[0]] if c0 is None else [y, last[0][0], last[1][0]]

    return operation(draw, inputs, ["y", "ht"] if kind is torch.nn.GRU else ["y", "ht", "ct"], library)


OPERATIONS = {
    "delta_rule-63x64": lambda draw: delta_rule(draw, 1, 63, 1, 64),
    "delta_rule-100x16": lambda draw: delta_rule(draw, 1, 100, 1, 16),
    "delta_rule-100x32": lambda draw: delta_rule(draw, 1, 100, 1, 32),
    "delta_rule-raw": lambda draw: delta_rule(draw, 1, 33, 1, 16, raw=True),
    "gated_delta_rule": lambda draw: gated(draw, per_channel=False),
    "kda": lambda draw: gated(draw, per_channel=True),
    "gated_delta_product": delta_product,
    "two_sided-gradients": two_sided_gradients,
    "rwkv7": rwkv7,
    "ssd": ssd,
    "rotary": rotary,
    "gated_rms_norm-silu": lambda draw: gated_rms_norm(draw, "swish"),
    "gated_rms_norm-sigmoid": lambda draw: gated_rms_norm(draw, "sigmoid"),
    "rms_norm": rms_norm,
    "l2_norm": l2_norm,
    "short_convolution": lambda draw: short_convolution(draw, None, bias=False),
    "short_convolution-silu": lambda draw: short_convolution(draw, "silu", bias=False),
    "short_convolution-bias": lambda draw: short_convolution(draw, "silu", bias=True),
    "lstm": lambda draw: torch_cell(draw, torch.nn.LSTM),
    "gru": lambda draw: torch_cell(draw, torch.nn.GRU),
}


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    os.makedirs(sys.argv[1], exist_ok=True)
    for name in sys.argv[2:] or OPERATIONS:
        print(name, flush=True)
        tensors = OPERATIONS[name](Draw(name))
        tensors = {n: x.detach().float().contiguous().clone() for n, x in tensors.items()}
        flat = [n for n, x in tensors.items() if not (x.isfinite().all() and x.any())]
        if flat:
            raise ValueError(f"{name}: tensors must be finite and not all zero: {flat}")
        save_file(tensors, os.path.join(sys.argv[1], name + ".safetensors"))
        print(" ", {n: list(x.shape) for n, x in tensors.items()}, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
