#!/usr/bin/env python3
"""Random filtering problems for the belief oracles, in the form that beliefs_case.py reads. Standard library only.

  beliefs_random.py [--seed N] [--count N] [--states N] [--steps N] [--exact] > cases.jsonl

The kinds take turns: hard reveals or soft weights; kernels deterministic, sparse or dense; starts known, sparse or
uniform. About one case in ten has impossible evidence (a reveal that contradicts what came before, or weights all zero).
--exact writes ratios "p/q" of small numbers; otherwise doubles, weights from 1e-6 to 1e3.
"""

import argparse
import json
import random
from fractions import Fraction


def distribution(draw, size, support, exact):
    """A distribution over `size` states with at most `support` of them possible, as pairs (state, probability)."""
    places = sorted(draw.sample(range(size), support))
    parts = [draw.randint(1, 9) for _ in places] if exact else [draw.random() + 1e-3 for _ in places]
    total = sum(parts)
    return [[place, str(Fraction(part, total)) if exact else part / total] for place, part in zip(places, parts)]


def random_case(draw, most_states, most_steps, exact):
    size, steps = draw.randint(1, most_states), draw.randint(1, most_steps)
    hard, kernel = draw.random() < 0.5, draw.choice(["deterministic", "sparse", "dense"])
    impossible_at = draw.randrange(steps) if draw.random() < 0.08 else None
    start = ["0" if exact else 0.0] * size
    for place, probability in distribution(draw, size, draw.choice([1, draw.randint(1, size), size]), exact):
        start[place] = probability

    # A hidden path keeps most evidence possible: its state is never ruled out, except once in a while.
    state = draw.choice([q for q in range(size) if Fraction(start[q]) > 0])
    case = {"start": start, "steps": []}
    for t in range(steps):
        if t == impossible_at:
            weights = [0] * size
        elif hard:
            weights = [draw.randint(0, 1) for _ in range(size)]
        elif exact:
            weights = [draw.choice(["0", "1", f"{draw.randint(1, 30)}/{draw.randint(1, 9)}"]) for _ in range(size)]
        else:
            weights = [draw.choice([0, 1, draw.random(), 10 ** draw.uniform(-6, 3)]) for _ in range(size)]
        if t != impossible_at and draw.random() > 0.02:
            weights[state] = weights[state] if Fraction(weights[state]) > 0 else 1
        support = {"deterministic": 1, "sparse": min(size, 2), "dense": size}[kernel]
        columns = [distribution(draw, size, support, exact) for _ in range(size)]
        state = draw.choice(columns[state])[0]
        case["steps"].append({"weights": weights, "columns": columns})
    return case


def main():
    parser = argparse.ArgumentParser(description="Random filtering problems, a JSON line each.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--states", type=int, default=8, help="at most so many")
    parser.add_argument("--steps", type=int, default=12, help="at most so many")
    parser.add_argument("--exact", action="store_true")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    for _ in range(options.count):
        print(json.dumps(random_case(draw, options.states, options.steps, options.exact)))


if __name__ == "__main__":
    main()
