"""Loads Hugging Face directories with transformers and fla on a CPU, and compares their logits with given ones.

  python -O compare_with_fla.py DIR... [--ids FILE.json] [--logits FILE.npy] [--tolerance 1e-4]

Ids (a JSON list of lists) come from DIR/ids.json and logits (fp32, [sequence, token, vocabulary]) from DIR/logits.npy
unless given. Exit 1 if a difference is above the tolerance, or tensors of a file are missing, left over or misshapen.
"""

import argparse
import json
import os
import sys

import fla_on_cpu  # noqa: F401  (before transformers: registers fla's model types)

import numpy as np
import torch
import transformers

transformers.utils.logging.set_verbosity(50)
transformers.utils.logging.disable_progress_bar()


def load(directory):
    """The model in eval mode, and what did not fit, as sentences."""
    model, info = transformers.AutoModelForCausalLM.from_pretrained(
        directory, output_loading_info=True, dtype=torch.float32, attn_implementation="eager", local_files_only=True
    )
    kinds = ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs")
    return model.eval(), [f"{kind}: {sorted(map(str, info[kind]))}" for kind in kinds if info.get(kind)]


def logits_of(model, ids):
    """Sequences of one length run together. Gradients stay on: with them fla's DeltaNet family takes chunks at any length,
    as in training; RWKV-7's chunks are coarse in fp32, so without there."""
    rows = [torch.tensor([row]) for row in ids]
    with torch.set_grad_enabled(model.config.model_type != "rwkv7"):
        if len({row.shape[1] for row in rows}) == 1:
            return list(model(input_ids=torch.cat(rows), use_cache=False).logits.detach().float().numpy())
        return [model(input_ids=row, use_cache=False).logits[0].detach().float().numpy() for row in rows]


def largest_difference(ours, theirs):
    """ours [sequence, token, vocabulary] may be longer than a row of theirs, where rows were padded."""
    if len(ours) != len(theirs):
        return float("inf"), f"there are {len(ours)} sequences of logits for {len(theirs)} of ids"
    for a, b in zip(ours, theirs):
        if a.shape[0] < b.shape[0] or a.shape[1] != b.shape[1]:
            return float("inf"), f"logits have the shape {a.shape}, the model's are {b.shape}"
    worst = max(float(np.abs(a[: len(b)] - b).max()) for a, b in zip(ours, theirs))
    return worst, "" if np.isfinite(worst) else "not finite"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="+", metavar="DIR")
    parser.add_argument("--ids", help="token ids for all directories")
    parser.add_argument("--logits", help="logits for all directories")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="largest difference allowed (default 1e-4)")
    options = parser.parse_args()
    failed = False
    for directory in options.directories:
        with open(options.ids or os.path.join(directory, "ids.json")) as file:
            ids = json.load(file)
        logits = np.load(options.logits or os.path.join(directory, "logits.npy"))
        try:
            model, problems = load(directory)
            difference, problem = largest_difference(logits, logits_of(model, ids))
            problems += [problem] if problem else []
        except Exception as error:
            difference, problems = float("inf"), [f"{type(error).__name__}: {error}"]
        bad = not difference <= options.tolerance or bool(problems)
        failed |= bad
        print(f"{directory}: largest difference {difference:.1e}, {'FAILED' if bad else 'ok'}", *problems, sep="\n  ", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
