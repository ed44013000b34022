#!/usr/bin/env python3
"""Exact Bayes filtering in rational numbers: the reference for all other oracles and engines. Standard library only.

  beliefs_fractions.py [--exact] [--paths] < cases.jsonl > answers.jsonl

Step t: b'_t(q) = b_t(q) w_t(q) / s_t with the survival s_t = sum_q b_t(q) w_t(q), then b_{t+1} = T_t b'_t.
Answers, a line each: survival [s_t], beliefs [b_1 .. b_T], smoothed [P(q_t | all steps), t = 0..T] and best_path_log,
the natural logarithm of max over q_0..q_T of b_0(q_0) prod_t w_t(q_t) T_t(q_{t+1} | q_t). If some s_t = 0, the answer is
{"impossible_at": t} with the first such t. beliefs_case.py has the form of a case.

--exact   strings "p/q" instead of doubles (each double is the exact value rounded once), and best_path beside its log
--paths   sums over all paths one by one, sharing nothing with the recursion; for small cases
"""

import argparse
import math
import sys
from fractions import Fraction

from beliefs_case import answer_lines, require

MOST_PATHS = 1_000_000


class Impossible(Exception):
    """The evidence of step args[0] has probability zero."""


def normalised(masses, step):
    total = sum(masses)
    if total == 0:
        raise Impossible(step)
    return [mass / total for mass in masses], total


def by_recursion(case):
    """Forward, backward and best-path recursions; time T m^2."""
    steps, states = len(case.weights), range(case.states)

    beliefs, survival, revealed = [case.start], [], []
    for t in range(steps):
        posterior, total = normalised([beliefs[t][q] * case.weights[t][q] for q in states], t)
        survival.append(total)
        revealed.append(posterior)
        following = [Fraction(0)] * case.states
        for q in states:
            for target, probability in case.columns[t][q]:
                following[target] += probability * posterior[q]
        beliefs.append(following)

    # future[q] = weight of all that comes at step t and later, given q_t = q.
    future = [Fraction(1)] * case.states
    smoothed = [normalised(beliefs[steps], steps)[0]]
    for t in reversed(range(steps)):
        future = [
            case.weights[t][q] * sum(probability * future[target] for target, probability in case.columns[t][q])
            for q in states
        ]
        smoothed.append(normalised([beliefs[t][q] * future[q] for q in states], t)[0])
    smoothed.reverse()

    best = case.start
    for t in range(steps):
        following = [Fraction(0)] * case.states
        for q in states:
            for target, probability in case.columns[t][q]:
                following[target] = max(following[target], best[q] * case.weights[t][q] * probability)
        best = following
    return survival, beliefs[1:], smoothed, max(best)


def paths(case, length):
    """Each path q_0..q_length of non-zero mass, with its mass before the evidence of step `length`."""
    # A plain stack of unfinished paths: no path looks at another.
    stack = [((q,), mass) for q, mass in enumerate(case.start) if mass > 0]
    count = 0
    while stack:
        path, mass = stack.pop()
        t = len(path) - 1
        if t == length:
            count += 1
            require(count <= MOST_PATHS, f"--paths is for at most {MOST_PATHS} paths; leave it out for this case")
            yield path, mass
        elif case.weights[t][path[-1]] > 0:
            stack += [(path + (q,), mass * case.weights[t][path[-1]] * p) for q, p in case.columns[t][path[-1]]]


def by_paths(case):
    """The same by definition: every quantity is a sum, or a maximum, over paths."""
    steps = len(case.weights)
    survival, beliefs, evidence = [], [], Fraction(1)
    for t in range(steps):
        with_reveal = sum(mass * case.weights[t][path[t]] for path, mass in paths(case, t))
        if with_reveal == 0:
            raise Impossible(t)
        survival.append(with_reveal / evidence)
        evidence = with_reveal
        belief = [Fraction(0)] * case.states
        for path, mass in paths(case, t + 1):
            belief[path[t + 1]] += mass / evidence
        beliefs.append(belief)

    smoothed = [[Fraction(0)] * case.states for _ in range(steps + 1)]
    total = best = Fraction(0)
    for path, mass in paths(case, steps):
        total += mass
        best = max(best, mass)
        for t, q in enumerate(path):
            smoothed[t][q] += mass
    return survival, beliefs, [[mass / total for mass in row] for row in smoothed], best


def log(value):
    """The natural logarithm of a positive Fraction of any size; no cancellation between large logarithms."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return math.log(value / Fraction(2) ** exponent) + exponent * math.log(2)


def main():
    parser = argparse.ArgumentParser(description="Exact Bayes filtering; cases on stdin, answers on stdout.")
    parser.add_argument("--exact", action="store_true", help='answer in strings "p/q"')
    parser.add_argument("--paths", action="store_true", help="sum over all paths, for small cases")
    options = parser.parse_args()
    solve = by_paths if options.paths else by_recursion
    shown = str if options.exact else float

    def answer(case):
        try:
            survival, beliefs, smoothed, best = solve(case)
        except Impossible as impossible:
            return {"impossible_at": impossible.args[0]}
        result = {
            "survival": [shown(s) for s in survival],
            "beliefs": [[shown(b) for b in row] for row in beliefs],
            "smoothed": [[shown(b) for b in row] for row in smoothed],
            "best_path_log": log(best),
        }
        if options.exact:
            result["best_path"] = str(best)
        return result

    return answer_lines(answer)


if __name__ == "__main__":
    sys.exit(main())
