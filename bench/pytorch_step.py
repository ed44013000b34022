"""The training step that `shellgame bench model` times, in plain PyTorch: the yardstick of a user without shellgame.

DeltaNet with negative eigenvalues, as fla's layers define it, from torch's own operations (chunked delta rule), one
step being forward, cross entropy over all tokens, backward, clipping at norm 1, AdamW. Prints JSON; --check compares
the delta rule with its recurrence in double. Needs only torch: python3 bench/pytorch_step.py --case a --steps 5
"""

import argparse
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY = 90
CASES = {
    "a": dict(layers=2, width=64, heads=2, head=32, swiglu=160, batch=32, tokens=1465),
    "b": dict(layers=2, width=128, heads=4, head=32, swiglu=512, batch=64, tokens=200),
    "c": dict(layers=6, width=256, heads=8, head=32, swiglu=768, batch=16, tokens=512),
    "d": dict(layers=18, width=512, heads=8, head=128, swiglu=1536, batch=4, tokens=1465),
}


def delta_rule(q, k, v, beta, chunk):
    """o_t = S_t^T q_t, S_t = S_{t-1} + beta_t k_t (v_t - S_{t-1}^T k_t)^T; q, k [B, H, T, K], v [B, H, T, V], beta [B, H, T].

    Within a chunk the updates are u = (I + A)^-1 beta (v - k S) with A the part of beta k k^T below the diagonal, so
    that only the states between chunks are made one after the other.
    """
    batch, heads, tokens, width = q.shape
    beyond = -tokens % chunk  # beta is 0 there: the state stays
    q, k, v = (F.pad(x, (0, 0, 0, beyond)).view(batch, heads, -1, chunk, x.shape[-1]) for x in (q, k, v))
    beta = F.pad(beta, (0, beyond)).view(batch, heads, -1, chunk, 1)
    transposed = k.transpose(-1, -2)
    scaled = beta * k
    inner = (scaled @ transposed).tril(-1)
    right = torch.cat((beta * v, scaled), dim=-1)
    updates, reads = torch.linalg.solve_triangular(
        inner, right, upper=False, unitriangular=True
    ).split((v.shape[-1], width), dim=-1)
    scores = (q @ transposed).tril()
    state = q.new_zeros(batch, heads, width, v.shape[-1])
    outputs = []
    # unbind, since the gradient of x[:, :, n] would be as large as x for every n
    for u, w, query, key, score in zip(*(x.unbind(2) for x in (updates, reads, q, transposed, scores))):
        u = u - w @ state
        outputs.append(query @ state + score @ u)
        state = state + key @ u
    return torch.cat(outputs, dim=2)[:, :, :tokens]


def delta_rule_by_token(q, k, v, beta):
    """The definition."""
    state = q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1])
    outputs = []
    for t in range(q.shape[2]):
        error = v[:, :, t] - (k[:, :, t, None] @ state).squeeze(-2)
        state = state + k[:, :, t, :, None] @ (beta[:, :, t, None] * error)[..., None, :]
        outputs.append((q[:, :, t, None] @ state).squeeze(-2))
    return torch.stack(outputs, dim=2)


class ShortConvolution(nn.Module):
    """Depthwise and causal over 4 tokens, then SiLU; x [B, T, D]."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(0.02 * torch.randn(4, width))

    def forward(self, x):
        padded, tokens = F.pad(x, (0, 0, 3, 0)), x.shape[1]
        y = padded[:, :tokens] * self.weight[0]
        for i in range(1, 4):
            y = torch.addcmul(y, padded[:, i : i + tokens], self.weight[i])
        return F.silu(y)


class DeltaNet(nn.Module):
    def __init__(self, width, heads, head, chunk):
        super().__init__()
        self.heads, self.head, self.chunk = heads, head, chunk
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(width, heads * head, bias=False) for _ in range(3))
        self.q_conv, self.k_conv, self.v_conv = (ShortConvolution(heads * head) for _ in range(3))
        self.b_proj = nn.Linear(width, heads, bias=False)
        self.o_norm = nn.RMSNorm(head, eps=1e-6)
        self.o_proj = nn.Linear(heads * head, width, bias=False)

    def forward(self, x):
        def by_head(y):
            return y.unflatten(-1, (self.heads, self.head)).transpose(1, 2)

        def unit(y):
            return y * torch.rsqrt(y.square().sum(-1, keepdim=True) + 1e-6)

        q, k = unit(by_head(self.q_conv(self.q_proj(x)))), unit(by_head(self.k_conv(self.k_proj(x))))
        v = by_head(self.v_conv(self.v_proj(x)))
        beta = 2 * self.b_proj(x).sigmoid().transpose(1, 2)
        o = delta_rule(q * self.head**-0.5, k, v, beta, self.chunk)
        return self.o_proj(self.o_norm(o.transpose(1, 2)).flatten(2))


class Block(nn.Module):
    def __init__(self, width, heads, head, swiglu, chunk):
        super().__init__()
        self.mixer_norm, self.mlp_norm = nn.RMSNorm(width, eps=1e-6), nn.RMSNorm(width, eps=1e-6)
        self.mixer = DeltaNet(width, heads, head, chunk)
        self.gate, self.up = nn.Linear(width, swiglu, bias=False), nn.Linear(width, swiglu, bias=False)
        self.down = nn.Linear(swiglu, width, bias=False)

    def forward(self, x):
        x = x + self.mixer(self.mixer_norm(x))
        y = self.mlp_norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Model(nn.Module):
    def __init__(self, layers, width, heads, head, swiglu, chunk, **_):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.blocks = nn.Sequential(*(Block(width, heads, head, swiglu, chunk) for _ in range(layers)))
        self.norm = nn.RMSNorm(width, eps=1e-6)
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        for part in self.modules():
            if isinstance(part, (nn.Linear, nn.Embedding)):
                nn.init.normal_(part.weight, std=0.02)

    def forward(self, ids, targets):
        logits = self.head(self.norm(self.blocks(self.embedding(ids))))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def gemm_peak(rounds=10, size=1024):
    """GFLOP/s of the best of the three products that a linear layer needs (NN, NT, TN)."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    kinds = {"NN": lambda: a @ b, "NT": lambda: a @ b.T, "TN": lambda: a.T @ b}
    best = {kind: min(seconds(product) for _ in range(rounds)) for kind, product in kinds.items()}
    return {kind: round(2 * size**3 / time_ / 1e9, 1) for kind, time_ in best.items()}


def run(case, steps, chunk, compiled):
    torch.manual_seed(1)
    shape = CASES[case]
    model = Model(**shape, chunk=chunk)
    parameters = sum(p.numel() for p in model.parameters())
    forward = torch.compile(model) if compiled else model
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    ids = torch.randint(VOCABULARY, (shape["batch"], shape["tokens"] + 1))
    losses = []

    def step():
        loss = forward(ids[:, :-1], ids[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())

    step()  # warms up, and compiles
    times = [seconds(step) for _ in range(steps)]
    peak = gemm_peak()
    rate = shape["batch"] * shape["tokens"] / statistics.median(times)
    worked = parameters - model.embedding.weight.numel()
    gflops = 6 * worked * rate / 1e9
    return {
        "case": case,
        **shape,
        "parameters": parameters,
        "chunk": chunk,
        "compiled": compiled,
        "seconds": [round(t, 4) for t in times],
        "tokens_per_second": round(rate),
        "gflops": round(gflops, 2),
        "gemm_gflops": peak,
        "utilisation": round(gflops / max(peak.values()), 4),
        "losses": [round(loss, 5) for loss in losses],
    }


def check(chunk):
    """Outputs and gradients of the chunked form against the recurrence, both in double; lengths around the chunk's."""
    worst = 0.0
    for tokens in (1, chunk - 1, chunk, chunk + 1, 3 * chunk + 5):
        torch.manual_seed(tokens)
        q, k, v = (torch.randn(2, 3, tokens, 16, dtype=torch.double) for _ in range(3))
        k = F.normalize(k, dim=-1)
        beta = 2 * torch.rand(2, 3, tokens, dtype=torch.double)
        upstream = torch.randn_like(v)
        results = []
        for rule in (lambda *x: delta_rule(*x, chunk), delta_rule_by_token):
            inputs = [x.clone().requires_grad_() for x in (q, k, v, beta)]
            o = rule(*inputs)
            results.append([o, *torch.autograd.grad((o * upstream).sum(), inputs)])
        assert all(x.abs().max() > 0 for x in results[1][:2]), "a gradient that is zero shows nothing"
        for ours, reference in zip(*results):
            error = (ours - reference).square().mean().sqrt() / (reference.square().mean().sqrt() + 1e-8)
            worst = max(worst, error.item())
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=[*CASES, "all"], default="a")
    parser.add_argument("--threads", type=int, default=0, help="0: as many as torch takes")
    parser.add_argument("--steps", type=int, default=5, help="timed steps; one more comes before them")
    parser.add_argument("--chunk", type=int, default=32, help="tokens of a chunk")
    parser.add_argument("--compile", action="store_true", help="through torch.compile")
    parser.add_argument("--check", action="store_true", help="only compare the delta rule with its recurrence")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    if options.check:
        worst = check(options.chunk)
        print(json.dumps({"largest_relative_rms": worst, "limit": 1e-12}))
        return int(not worst < 1e-12)
    cases = CASES if options.case == "all" else [options.case]
    results = [run(case, options.steps, options.chunk, options.compile) for case in cases]
    print(json.dumps({"torch": torch.__version__, "threads": torch.get_num_threads(), "results": results}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
