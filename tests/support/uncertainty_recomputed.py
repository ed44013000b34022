"""Recomputes the measures of the experiment under uncertainty, without a line of shellgame's evaluation.

    uncertainty_recomputed.py TOOL SCHEDULES

Trains small models for a few steps, lets the tool evaluate and judge them, and compares every number with what follows
from the text of the traces (beliefs in fractions), from `model logits`, and from counting. Standard library only.
"""
import array
import ast
import itertools
import json
import math
import re
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from statistics import median

TOOL, SCHEDULES = sys.argv[1], Path(sys.argv[2])
CYCLES = [1, 3]
LINEAR, NONLINEAR = ["one", "two"], ["three", "four"]

EXPERIMENT = """
name = "recomputed"
threads = 1
[task]
group = "S3"
moves = "swaps"
uncertainty = "branching"
probability = [0, 0.1, 0.5, 1]
[model]
model_type = "delta_net"
hidden_size = 16
num_hidden_layers = 1
num_heads = 2
intermediate_size = 24
allow_neg_eigval = true
[optimiser]
learning-rate = 2e-2
[[stages]]
commands = 4
spacing = 1
batch = 8
steps = 12
[evaluation]
commands = 4
spacing = 1
count = 4
[[arms]]
name = "one"
[[arms]]
name = "two"
model = { hidden_size = 24 }
[[arms]]
name = "three"
model = { model_type = "shellgame_lstm", hidden_size = 16, num_hidden_layers = 1, intermediate_size = 24 }
[[arms]]
name = "four"
model = { model_type = "shellgame_gru", hidden_size = 16, num_hidden_layers = 1, intermediate_size = 24 }
"""

RULE = f"""
linear = {LINEAR}
nonlinear = {NONLINEAR}
primary = {CYCLES[-1]}
trained = 4
early = [{CYCLES[0]}]
[[regime]]
name = "U"
cycle = "cycle.json"
uniform = "uniform.json"
"""


def run(*words):
    done = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def read_npy(path):
    """fp32 [sequence, token, vocabulary] as (shape, flat numbers)."""
    data = Path(path).read_bytes()
    size = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:10 + size].decode())
    numbers = array.array("f")
    numbers.frombytes(data[10 + size:])
    assert header["descr"] == "<f4" and not header["fortran_order"]
    return header["shape"], numbers


def belief_of(lines, variable):
    """The exact distribution of a variable, from the text alone."""
    state = {}  # values in the order of `names`: probability
    names = []
    for line in lines:
        if found := re.fullmatch(r">>> (\w+) = (\d+)", line):
            names.append(found[1])
            state = {(*key, int(found[2])): p for key, p in (state or {(): Fraction(1)}).items()}
        elif found := re.fullmatch(r">>> if random\(\) < (\S+): (\w+), (\w+) = (\w+), (\w+)", line):
            p, moved = Fraction(found[1]), {}
            for key, mass in state.items():
                new = list(key)
                for to, source in ((found[2], found[4]), (found[3], found[5])):
                    new[names.index(to)] = key[names.index(source)]
                for target, share in ((tuple(new), p), (key, 1 - p)):
                    if share:
                        moved[target] = moved.get(target, 0) + mass * share
            state = moved
        elif found := re.fullmatch(r"(\w+) (\d+)", line):
            kept = {key: p for key, p in state.items() if key[names.index(found[1])] == int(found[2])}
            total = sum(kept.values())
            assert total > 0, line
            state = {key: p / total for key, p in kept.items()}
        else:
            assert line.startswith((">>> print(", ">>> from random")), line
    place = names.index(variable)
    belief = {value: Fraction(0) for value in range(1, len(names) + 1)}
    for key, p in state.items():
        belief[key[place]] += p
    return belief


def measures_of(model, schedule, cycles, folder):
    """(miss, total variation, regret) of each ending, the mean over the schedule's traces."""
    arguments = ["trace", "--schedule", schedule, "--set", f"N={cycles}"]
    questions = [json.loads(line) for line in run(*arguments, "--format", "questions").splitlines()]
    texts = [json.loads(line) for line in run(*arguments, "--format", "jsonl").splitlines()]
    assert len(questions) == len(texts)
    # Rows of one length go through the model together: it takes most of a second to start.
    asked = [question["questions"] for question in questions]
    assert all(len(one) == 1 for one in asked)
    groups = {}
    for row, (one,) in enumerate(asked):
        groups.setdefault(one["at"], []).append(row)
    logits_of = {}
    for time, rows in groups.items():
        (folder / "ids.json").write_text(json.dumps([questions[row]["ids"][:time] for row in rows]))
        run("model", "logits", model, "--ids", folder / "ids.json", "--output", folder / "logits.npy")
        shape, numbers = read_npy(folder / "logits.npy")
        assert shape[:2] == (len(rows), time)
        for place, row in enumerate(rows):
            last = (place * time + time - 1) * shape[2]
            logits_of[row] = [numbers[last + token] for (token,) in asked[row][0]["values"]]
    sums = {}
    for row, text in enumerate(texts):
        lines = text["text"].splitlines()
        variable, shown = re.fullmatch(r"(\w+) (\d+)", lines[-1]).groups()
        belief = belief_of(lines[:-1], variable)
        logits = logits_of[row]
        scale = max(logits)
        total = math.fsum(math.exp(x - scale) for x in logits)
        model_says = [math.exp(x - scale) / total for x in logits]
        exact = [belief[value] for value in sorted(belief)]
        assert exact[int(shown) - 1] > 0
        found = (1 - model_says[int(shown) - 1],
                 sum(abs(float(p) - q) for p, q in zip(exact, model_says)) / 2,
                 sum(float(p) * (math.log(p) - math.log(q)) for p, q in zip(exact, model_says) if p))
        sums.setdefault(text["cell"]["ending"], []).append(found)
    return {ending: [math.fsum(part) / len(found) for part in zip(*found)] for ending, found in sums.items()}


def greater(high, low):
    """The exact one-sided Mann-Whitney test, by trying every division."""
    pooled = high + low
    ranks = [sum(y < x for y in pooled) + (sum(y == x for y in pooled) + 1) / 2 for x in pooled]
    seen = sum(ranks[:len(high)])
    sums = [sum(ranks[i] for i in chosen) for chosen in itertools.combinations(range(len(pooled)), len(high))]
    return sum(one >= seen - 1e-9 for one in sums) / len(sums)


def close(name, found, wanted, within):
    if not abs(found - wanted) <= within:
        sys.exit(f"{name}: the tool says {found}, Python {wanted}")


def main(folder):
    (folder / "x.toml").write_text(EXPERIMENT)
    sweep = folder / "runs"
    run("sweep", folder / "x.toml", "--seeds", "0..2", "--run", sweep)
    schedules = [word for name in ("Z", "D", "M5", "M1") for word in ("--schedule", SCHEDULES / f"{name}.toml")]
    run("evaluate", "--sweep", sweep, *schedules, "--set", f"N={','.join(map(str, CYCLES))}", "--name", "cycle",
        "--output", folder / "cycle.json")
    run("evaluate", "--sweep", sweep, "--commands", "4,8", "--spacing", "1,2", "--count", "4", "--name", "uniform",
        "--output", folder / "uniform.json")
    regrets = {}
    for entry in json.loads((folder / "uniform.json").read_text())["runs"]:
        for i, seed in enumerate(entry["seeds"]):
            trained = [cell["regret"][i] for cell in entry["cells"] if cell["commands"] == 4]
            assert len(trained) == 2 and len(entry["cells"]) == 4
            regrets[entry["settings"][0].removeprefix("arm="), seed] = sum(trained) / 2
    cells = {}
    results = json.loads((folder / "cycle.json").read_text())
    for entry in results["runs"]:
        arm = entry["settings"][0].removeprefix("arm=")
        for i, (seed, directory) in enumerate(zip(entry["seeds"], entry["directories"])):
            for name, cycles in itertools.product(("Z", "D", "M5", "M1"), CYCLES):
                ours = measures_of(sweep / directory / "model", SCHEDULES / f"{name}.toml", cycles, folder)
                assert set(ours) == {"a", "b", "c"}
                for ending, (miss, variation, regret) in ours.items():
                    (cell,) = [one for one in entry["cells"]
                               if (one["schedule"], one["N"], one["ending"]) == (name, cycles, ending)]
                    place = f"{directory} {name} N {cycles} {ending}"
                    close(f"{place} miss", cell["miss"][i], miss, 2e-6)
                    close(f"{place} total variation", cell["total_variation"][i], variation, 2e-6)
                    close(f"{place} regret", cell["regret"][i], regret, 1e-5)
                    cells[arm, seed, name, cycles, ending] = miss
    (folder / "rule.toml").write_text(RULE)
    verdict = json.loads(run("verdict", folder / "rule.toml", "--format", "json"))
    (regime,) = verdict["regimes"]
    e = {}
    for row in regime["seeds"]:
        at = {name: cells[row["arm"], row["seed"], name, CYCLES[-1], "c"] for name in ("Z", "D", "M5", "M1")}
        wanted = at["M5"] - max(at["Z"], at["D"])
        close(f"E of {row['arm']} {row['seed']}", row["e"], wanted, 4e-6)
        close("regret", row["regret"], regrets[row["arm"], row["seed"]], 1e-12)
        close("E with M1", row["e_m1"], at["M1"] - max(at["Z"], at["D"]), 4e-6)
        e.setdefault(row["arm"], []).append(row["e"])
    for arm in regime["all"]["arms"]:
        close(f"median E of {arm['arm']}", arm["e"], median(e[arm["arm"]]), 1e-12)
    pairs = regime["all"]["pairs"]
    assert [(pair["linear"], pair["nonlinear"]) for pair in pairs] == list(itertools.product(LINEAR, NONLINEAR))
    p = [greater(e[pair["linear"]], e[pair["nonlinear"]]) for pair in pairs]
    largest = 0
    for k, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, min(1, (len(p) - k) * p[i]))
        close("p", pairs[i]["p"], p[i], 1e-12)
        close("p after Holm", pairs[i]["p_adjusted"], largest, 1e-12)
    print(f"{len(cells)} cells and {len(p)} tests are what plain Python computes")


with tempfile.TemporaryDirectory() as name:
    main(Path(name))
