"""An experiment of `shellgame train` in plain PyTorch: the yardstick for the time that a whole training takes.

Reads the same TOML file (DeltaNet, stages without streams), asks the tool for the same traces as token ids, and trains with
torch's own operations and AdamW until the experiment ends or --accuracy is reached at --commands and --spacing. Prints JSON.
    python3 bench/pytorch_train.py experiments/s5/experiment.toml --tool build/release/shellgame --threads 2
"""

import argparse
import collections
import json
import math
import subprocess
import sys
import time
import tomllib

import torch
import torch.nn.functional as F
from torch import nn

from pytorch_step import Model


def run_tool(tool, *arguments, text=""):
    done = subprocess.run([tool, *map(str, arguments)], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


class Traces:
    """Batches of a task: ids [B, T + 1], and a mask of the places whose next token is a revealed value."""

    def __init__(self, tool, task):
        self.tool, self.task = tool, task
        texts = run_tool(tool, "tokens", "decode", text="".join(json.dumps({"ids": [i]}) + "\n" for i in range(4, 90)))
        texts = [json.loads(line)["text"] for line in texts.splitlines()]
        self.newline, self.prompt = 4 + texts.index("\n"), [4 + i for i, text in enumerate(texts) if text.startswith(">>>")]

    def batches(self, commands, spacing, batch, seed, first, ahead=20):
        while True:
            options = [f"--{key}={value}" for key, value in self.task.items()]
            traces = run_tool(self.tool, "trace", *options, "--commands", commands, "--spacing", spacing, "--seed", seed,
                              "--first-index", first, "--count", batch * ahead, "--format", "jsonl")
            lines = run_tool(self.tool, "tokens", "encode", text=traces).splitlines()
            first += batch * ahead
            rows = [json.loads(line)["ids"] for line in lines]
            for at in range(0, len(rows), batch):
                yield self.tensors(rows[at:at + batch])

    def tensors(self, rows):
        longest = max(map(len, rows))
        ids = torch.tensor([row + [-100] * (longest - len(row)) for row in rows])
        shown = torch.zeros(len(rows), longest - 1, dtype=torch.bool)
        for b, row in enumerate(rows):
            start = 0
            for t, token in enumerate(row):
                if token == self.newline:
                    if row[start] not in self.prompt:
                        shown[b, t - 2] = True  # the value stands before the newline
                    start = t + 1
        return ids, shown


def loss_of(model, ids, shown):
    inputs, targets = ids[:, :-1].clamp(min=0), ids[:, 1:]
    logits = model.head(model.norm(model.blocks(model.embedding(inputs))))
    right = (logits.argmax(-1) == targets)[shown]
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten()), right


def start_as_torch(model):
    for part in model.modules():
        if isinstance(part, (nn.Linear, nn.Embedding)):
            part.reset_parameters()
        elif part.__class__.__name__ == "ShortConvolution":
            nn.init.uniform_(part.weight, -0.5, 0.5)


def train(options):
    with open(options.experiment, "rb") as file:
        experiment = tomllib.load(file)
    config, optimiser, schedule = experiment["model"], experiment["optimiser"], experiment["schedule"]
    torch.manual_seed(options.seed)
    model = Model(layers=config["num_hidden_layers"], width=config["hidden_size"], heads=config["num_heads"],
                  head=config["hidden_size"] // config["num_heads"], swiglu=config["intermediate_size"], chunk=options.chunk)
    if experiment.get("init") == "torch":
        start_as_torch(model)
    groups = [{"params": [p for p in model.parameters() if (p.dim() > 1) == matrix], "weight_decay": decay}
              for matrix, decay in ((True, optimiser.get("weight-decay", 0.1)), (False, 0.0))]
    adamw = torch.optim.AdamW(groups, lr=optimiser["learning-rate"], betas=(0.9, 0.95), fused=True)
    traces = Traces(options.tool, experiment["task"])
    start, step, tokens, first, data_seconds, log = time.perf_counter(), 0, 0, 0, 0.0, []
    for number, stage in enumerate(experiment["stages"]):
        if "stream" in stage:
            break
        window = collections.deque(maxlen=stage.get("window", 20))
        batches = traces.batches(stage["commands"], stage["spacing"], stage["batch"], options.seed, first)
        for stage_step in range(stage["steps"]):
            begun = time.perf_counter()
            ids, shown = next(batches)
            data_seconds += time.perf_counter() - begun
            rate = optimiser["learning-rate"] * min(1, (step + 1) / (schedule["warmup"] + 1))
            if stage.get("shape", schedule["shape"]) == "cosine":
                low = stage.get("minimum", schedule.get("minimum", 0.1))
                rate *= low + (1 - low) * 0.5 * (1 + math.cos(math.pi * stage_step / stage["steps"]))
            for group in adamw.param_groups:
                group["lr"] = rate
            loss, right = loss_of(model, ids, shown)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adamw.step()
            adamw.zero_grad()
            step, first, tokens = step + 1, first + stage["batch"], tokens + int((ids >= 0).sum())
            window.append((int(right.sum()), right.numel()))
            accuracy = sum(r for r, _ in window) / sum(n for _, n in window)
            if len(window) == window.maxlen and stage.get("until") and accuracy >= stage["until"]:
                break
            last = number + 1 == len(experiment["stages"]) or "stream" in experiment["stages"][number + 1]
            if last and options.accuracy and len(window) == window.maxlen and accuracy >= options.accuracy:
                break
        log.append({"stage": number, "steps": stage_step + 1, "accuracy": accuracy, "tokens": tokens,
                    "seconds": time.perf_counter() - start - data_seconds})
        print(json.dumps(log[-1]), file=sys.stderr)
    return {"experiment": options.experiment, "seed": options.seed, "torch": torch.__version__,
            "threads": torch.get_num_threads(), "steps": step, "tokens": tokens, "accuracy": accuracy,
            "seconds_without_data": time.perf_counter() - start - data_seconds, "data_seconds": data_seconds, "stages": log}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment")
    parser.add_argument("--tool", default="build/release/shellgame")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0, help="0: as many as torch takes")
    parser.add_argument("--chunk", type=int, default=32)
    parser.add_argument("--accuracy", type=float, default=0, help="end the last stage at this accuracy over its window")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    print(json.dumps(train(options), indent=1))


if __name__ == "__main__":
    main()
