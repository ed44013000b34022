"""Writes tiny models of fla's and Qwen3's families, each with switches of its own, and what fla or transformers computes.

  python -O fla_models.py OUTPUT [NAME ...]    the files that tests/data/models/README.md describes
  python -O fla_models.py --keys [FAMILY ...]  which keys of a config change the result, as a table

Each model is also run with its recurrences from their definition in double (recurrences.py); the differences are
printed. Needs torch, triton, transformers, flash-linear-attention, safetensors, numpy; a model takes up to a minute.
"""

import contextlib
import json
import math
import os
import sys
import time
import traceback
import zlib

import fla_on_cpu  # before fla
import recurrences

import fla.models.utils
import numpy as np
import torch
import transformers
from fla_model_specs import SPECS, make_config
from safetensors.torch import save_file

transformers.utils.logging.set_verbosity(50)
transformers.utils.logging.disable_progress_bar()


def randomise(model, seed, tied):
    """Weights larger than the libraries' initialisation, so that an error in any part shows in the logits."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator)
            if "embed" in name:
                p.copy_((0.5 if tied else 1.0) * noise)
            elif "norm" in name and name.endswith("weight"):
                p.copy_(1 + 0.2 * noise)
            elif "conv" in name and p.dim() == 3:
                p.copy_(noise / math.sqrt(p.shape[-1]))
            elif name.endswith("weight") and p.dim() == 2:
                p.copy_(noise / math.sqrt(p.shape[-1]))
            else:  # biases, decays, mixing weights: around the library's own start
                p.add_(0.2 * noise)


def token_by_token(model, ids):
    """Logits of fla's own decoding."""
    logits, cache = [], fla.models.utils.Cache()
    with torch.no_grad():
        for t in range(ids.shape[1]):
            step = model.eval()(input_ids=ids[:, t : t + 1], past_key_values=cache, use_cache=True)
            logits, cache = [*logits, step.logits], step.past_key_values
    return torch.cat(logits, dim=1)


def run(model, ids):
    """Logits, loss, and gradients by name."""
    model.zero_grad()
    logits = model(input_ids=ids).logits.float()
    if not torch.isfinite(logits).all():
        raise ValueError("logits are not finite")
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    grads = {n: p.grad.clone().contiguous() for n, p in model.named_parameters() if p.grad is not None}
    return logits.detach(), loss.item(), grads


def rms(x):
    return x.square().mean().sqrt().item()


def worst_gradient(grads, reference):
    """The largest rms(error) / (rms(reference) + 1e-8) among parameters, and its name."""
    ratios = {n: rms(grads[n] - r) / (rms(r) + 1e-8) for n, r in reference.items()}
    name = max(ratios, key=ratios.get)
    return ratios[name], name


def make(name):
    """The model, its token ids, and two results: of fla (or transformers), and of the recurrences in double. For Mamba2
    the second one has the logits of fla's decoding."""
    spec = SPECS[name]
    seed = zlib.crc32(name.encode())
    torch.manual_seed(seed)
    config = make_config(spec)
    model = transformers.AutoModelForCausalLM.from_config(config).float().train()
    randomise(model, seed, config.tie_word_embeddings)
    ids = torch.randint(3, config.vocab_size, spec["shape"], generator=torch.Generator().manual_seed(seed + 1))
    library = run(model, ids)
    if config.model_type == "mamba2":
        return model, ids, library, (token_by_token(model, ids), *library[1:])
    if config.model_type not in recurrences.REPLACEMENTS:
        return model, ids, library, library
    with recurrences.in_place_of_fla():
        exact = run(model, ids)
    if config.model_type == "rwkv7" and ids.shape[1] < 64:  # fla's recurrent form, closer than chunks, is for eval only
        with torch.no_grad():
            library = (model.eval()(input_ids=ids).logits, *library[1:])
    return model, ids, library, exact


def write(name, output):
    model, ids, library, exact = make(name)
    logits, loss, grads = exact if model.config.model_type == "rwkv7" else library
    path = os.path.join(output, name)
    model.save_pretrained(path)
    with contextlib.suppress(FileNotFoundError):
        os.remove(os.path.join(path, "generation_config.json"))
    save_file(grads, os.path.join(path, "grads.safetensors"))
    missing = [n for n, p in model.named_parameters() if n not in grads]
    with open(os.path.join(path, "loss.json"), "w") as file:
        json.dump({"loss": loss, "without_gradient": missing}, file, indent=1)
    with open(os.path.join(path, "ids.json"), "w") as file:
        json.dump(ids.tolist(), file)
    np.save(os.path.join(path, "logits.npy"), logits.numpy())
    zero = [n for n, g in grads.items() if not g.any()]
    ratio, worst = worst_gradient(library[2], exact[2])
    difference = (library[0] - exact[0]).abs().max().item()
    print(
        f"{name}: std {logits.std():.2f}, differences: logits {difference:.1e}, gradients {ratio:.1e} ({worst})",
        f"zero gradients: {zero}" if zero else "",
        f"without gradient: {missing}" if missing else "",
        flush=True,
    )


def main():
    if sys.argv[1:2] == ["--keys"]:
        from fla_model_keys import print_keys

        return print_keys(sys.argv[2:])
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    failed = 0
    for name in sys.argv[2:] or SPECS:
        start = time.time()
        try:
            write(name, sys.argv[1])
        except Exception:
            failed = 1
            print(f"{name}: FAILED after {time.time() - start:.0f} s", flush=True)
            traceback.print_exc(limit=-3)
    return failed


if __name__ == "__main__":
    sys.exit(main())
