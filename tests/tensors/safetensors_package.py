"""Loads what the test wrote into a directory, with the safetensors package: flat numbers are -3, -2, ... in every
tensor, its name says its type and shape, and the package would have written the same bytes."""

import json
import os
import sys

import safetensors
import safetensors.torch
import torch

TYPES = {"F64": torch.float64, "F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16, "I64": torch.int64}


def check(path):
    with safetensors.safe_open(path, "pt") as file:
        assert file.metadata() == {"format": "pt"}, file.metadata()
    tensors = safetensors.torch.load_file(path)
    for name, tensor in tensors.items():
        dtype, shape = name.removeprefix("é ").replace('"', "").split(" ", 1)
        assert tensor.dtype == TYPES[dtype], name
        assert list(tensor.shape) == json.loads(shape), name
        expected = (torch.arange(tensor.numel()) - 3).to(tensor.dtype).reshape(tensor.shape)
        assert torch.equal(tensor, expected), name
    with open(path, "rb") as file:
        assert file.read() == safetensors.torch.save(tensors, {"format": "pt"}), path
    return list(tensors)


root = sys.argv[1]
names = check(f"{root}/one.safetensors")
assert check(f"{root}/none.safetensors") == []
with open(f"{root}/several/model.safetensors.index.json") as file:
    index = json.load(file)
found = {}
for shard in sorted(set(index["weight_map"].values())):
    for name in check(f"{root}/several/{shard}"):
        assert name not in found
        found[name] = shard
assert found == index["weight_map"] and sorted(found) == sorted(names)
sizes = sum(os.path.getsize(f"{root}/several/{shard}") for shard in set(found.values()))
assert 0 < index["metadata"]["total_size"] < sizes
print(f"{len(names)} tensors, {len(found)} in several files")
