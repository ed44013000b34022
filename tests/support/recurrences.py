"""The recurrences of the delta-rule family from their definitions: token by token, in double, with torch's autograd.

An oracle for oracles: fla's kernels are compared with it. Layout [B, T, heads, width]; results come back in the type
of the values. `in_place_of_fla` lets fla's layers compute with these functions instead of fla's kernels.
"""

import contextlib
import importlib

import torch
import torch.nn.functional as F


def unit(x):
    """x / sqrt(|x|^2 + 1e-6), fla's l2 norm."""
    return x / (x.square().sum(-1, keepdim=True) + 1e-6).sqrt()


def delta_rule(q, k, v, beta, g=None, gk=None, gv=None, h0=None, scale=None, steps=1):
    """S <- e^(g + gk) S e^gv, then for each of a token's steps S += beta k (v - S^T k)^T; o = scale S^T q.

    q [B, T, H, K]; k [B, T steps, H, K]; v [B, T steps, HV, V], beta [B, T steps, HV], g [B, T, HV], gk [B, T, HV, K],
    gv [B, T, HV, V]; value head j reads key head j // (HV / H). Returns o [B, T, HV, V] and the last S [B, HV, K, V].
    """
    kind = v.dtype
    q, k, v, beta = (x.double() for x in (q, k, v, beta))
    repeats = v.shape[2] // q.shape[2]
    q, k = (x.repeat_interleave(repeats, dim=2) for x in (q, k))
    batch, tokens, heads, width = q.shape
    scale = width**-0.5 if scale is None else scale
    state = q.new_zeros(batch, heads, width, v.shape[-1]) if h0 is None else h0.double()
    outputs = []
    for t in range(tokens):
        if g is not None:
            state = state * g[:, t].double().exp()[..., None, None]
        if gk is not None:
            state = state * gk[:, t].double().exp()[..., None]
        if gv is not None:
            state = state * gv[:, t].double().exp()[..., None, :]
        for i in range(t * steps, (t + 1) * steps):
            error = v[:, i] - torch.einsum("bhkv,bhk->bhv", state, k[:, i])
            state = state + torch.einsum("bhk,bhv->bhkv", k[:, i], beta[:, i, :, None] * error)
        outputs.append(scale * torch.einsum("bhkv,bhk->bhv", state, q[:, t]))
    return torch.stack(outputs, dim=1).to(kind), state.to(kind)


def rwkv7(r, w, k, v, a, b, h0=None, scale=1.0):
    """S <- Diag(e^w) S + b (a^T S) + k v^T; o = scale S^T r, with w the log decay."""
    kind = v.dtype
    r, w, k, v, a, b = (x.double() for x in (r, w, k, v, a, b))
    state = r.new_zeros(r.shape[0], *r.shape[2:], v.shape[-1]) if h0 is None else h0.double()
    outputs = []
    for t in range(r.shape[1]):
        seen = torch.einsum("bhkv,bhk->bhv", state, a[:, t])
        state = state * w[:, t].exp()[..., None]
        state = state + torch.einsum("bhk,bhv->bhkv", b[:, t], seen) + torch.einsum("bhk,bhv->bhkv", k[:, t], v[:, t])
        outputs.append(scale * torch.einsum("bhkv,bhk->bhv", state, r[:, t]))
    return torch.stack(outputs, dim=1).to(kind), state.to(kind)


def ssd(x, dt, a, b, c, d=None, h0=None):
    """Mamba2: S <- e^(a dt) S + dt x b^T; y = S c + d x. x [B, T, H, P], dt [B, T, H], a [H] (negative), b, c [B, T, G, N],
    head h reads group h // (H / G); d [H] or [H, P]; S [B, H, P, N]."""
    kind = x.dtype
    x, dt, a, b, c = (z.double() for z in (x, dt, a, b, c))
    b, c = (z.repeat_interleave(x.shape[2] // z.shape[2], dim=2) for z in (b, c))
    state = x.new_zeros(x.shape[0], *x.shape[2:], b.shape[-1]) if h0 is None else h0.double()
    outputs = []
    for t in range(x.shape[1]):
        state = state * (a * dt[:, t]).exp()[..., None, None]
        state = state + torch.einsum("bhp,bhn->bhpn", dt[:, t, :, None] * x[:, t], b[:, t])
        outputs.append(torch.einsum("bhpn,bhn->bhp", state, c[:, t]))
    y = torch.stack(outputs, dim=1)
    if d is not None:
        y = y + x * (d.double() if d.dim() == 2 else d.double()[:, None])
    return y.to(kind), state.to(kind)


def fla_delta_rule(q, k, v, beta, use_qk_l2norm_in_kernel=False, **_):
    q, k = (unit(x.double()) if use_qk_l2norm_in_kernel else x for x in (q, k))
    return delta_rule(q, k, v, beta)


def fla_gated(q, k, v, g, beta, A_log, dt_bias, allow_neg_eigval=False, lower_bound=None, **_):
    """Gated DeltaNet (g per value head) and KDA (g per value head and key channel), gates included."""
    beta = beta.double().sigmoid() * (2 if allow_neg_eigval else 1)
    per_channel = g.dim() == 4
    x = g.double() + dt_bias.double().view(*g.shape[2:])
    rate = A_log.double().exp()
    rate = rate[:, None] if per_channel else rate
    g = -rate * F.softplus(x) if lower_bound is None else lower_bound * (rate * x).sigmoid()
    return delta_rule(unit(q.double()), unit(k.double()), v, beta, **{"gk" if per_channel else "g": g})


def fla_delta_product(q, k, v, g, beta, num_householder, **_):
    return delta_rule(unit(q.double()), unit(k.double()), v, beta, g=g, steps=num_householder)


def fla_rwkv7(r, w, k, v, a, b, scale=1.0, **_):
    return rwkv7(r, w, k, v, a, b, scale=scale)


REPLACEMENTS = {
    "delta_net": {"chunk_delta_rule": fla_delta_rule, "fused_recurrent_delta_rule": fla_delta_rule},
    "gated_deltanet": {"chunk_gated_delta_rule": fla_gated},
    "gated_deltaproduct": {"chunk_gated_delta_product": fla_delta_product},
    "kda": {"chunk_kda": fla_gated},
    "rwkv7": {"chunk_rwkv7": fla_rwkv7},
}


@contextlib.contextmanager
def in_place_of_fla():
    """Within it, layers that train compute their recurrences here."""
    kept = []
    for layer, functions in REPLACEMENTS.items():
        module = importlib.import_module(f"fla.layers.{layer}")
        for name, function in functions.items():
            kept.append((module, name, getattr(module, name)))
            setattr(module, name, function)
    try:
        yield
    finally:
        for module, name, function in kept:
            setattr(module, name, function)
