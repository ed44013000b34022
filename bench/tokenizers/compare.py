"""Encoding speed of Hugging Face's tokenizers library and of shellgame, in one run, as JSON.

    python bench/tokenizers/compare.py TOKENIZER.json TEXT... > bench/results/tokenizers.json

Ours is `build/release/shellgame bench tokens` on one thread (SHELLGAME names another tool). Needs: pip install tokenizers.
Both count processor time, and rounds alternate between the two, so that a noisy machine disturbs them little and
alike; the median of each is given.
"""

import json
import os
import statistics
import subprocess
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # one core for each

import tokenizers

SECONDS = 1.0
ROUNDS = 5
LINES = 32  # lines a call: the library slows down on one long text, which would not be fair


def library_speed(tokenizer, chunks, size):
    start, done = time.process_time(), 0
    while time.process_time() - start < SECONDS:
        tokenizer.encode_batch_fast(chunks)
        done += size
    return done / (time.process_time() - start)


def our_speed(tokenizer, path):
    command = [os.environ.get("SHELLGAME", "build/release/shellgame"), "bench", "tokens", "--tokenizer", tokenizer,
               "--input", path, "--seconds", str(SECONDS), "--rounds", "1"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(result.stdout)["encode_MB_per_s"]["median"]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    path, texts = sys.argv[1], sys.argv[2:]
    start = time.process_time()
    tokenizer = tokenizers.Tokenizer.from_file(path)
    report = {"library": f"tokenizers {tokenizers.__version__}", "library_load_seconds": time.process_time() - start,
              "texts": []}
    for name in texts:
        with open(name, encoding="utf-8", newline="") as file:
            text = file.read()
        lines = text.splitlines(keepends=True)
        chunks = ["".join(lines[i:i + LINES]) for i in range(0, len(lines), LINES)]
        size = len(text.encode())
        tokenizer.encode_batch_fast(chunks)
        theirs, ours = [], []
        for _ in range(ROUNDS):
            theirs.append(library_speed(tokenizer, chunks, size) / 1e6)
            ours.append(our_speed(path, name))
        library, shellgame = statistics.median(theirs), statistics.median(ours)
        report["texts"].append({"text": os.path.basename(name), "bytes": size, "library_mb_per_second": library,
                                "shellgame_mb_per_second": shellgame, "ratio": shellgame / library})
    print(json.dumps(report, indent=2))


main()
