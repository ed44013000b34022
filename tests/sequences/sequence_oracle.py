"""Judges sequences by Python itself: eval() for expressions, sum() for parities, itertools for words
and hashlib for whole files. Argument: a JSON file of claims. Prints "agreed on N facts" when nothing
differs, else one line for each difference."""

import hashlib
import itertools
import json
import sys

facts = 0
differences = []


def compare(what, ours, theirs):
    global facts
    facts += 1
    if ours != theirs:
        differences.append(f"{what}: shellgame {ours}, Python {theirs}")


def is_even(p):
    return sum(p[i] > p[j] for i in range(len(p)) for j in range(i + 1, len(p))) % 2 == 0


def elements_of(factor):
    family, n = factor[0], int(factor[1:])
    if family == "Z":
        return list(range(n))
    return [p for p in itertools.permutations(range(n)) if family == "S" or is_even(p)]


def multiply(p, q, factor):
    if factor[0] == "Z":
        return (p + q) % int(factor[1:])
    return tuple(p[x] for x in q)  # p after q


def check_word(claim):
    factors = claim["group"].split("x")
    elements = list(itertools.product(*(elements_of(f) for f in factors)))
    state, targets = elements[0], []
    for index in claim["input"]:
        left, right = state, elements[index]
        if claim["side"] == "left":
            left, right = right, left
        state = tuple(multiply(p, q, f) for p, q, f in zip(left, right, factors))
        targets.append(elements.index(state))
    compare(f"{claim['side']} products of {claim['group']}", claim["target"], targets)


with open(sys.argv[1]) as file:
    claims = json.load(file)
for claim in claims.get("files", []):
    compare(claim["name"], hashlib.sha256(claim["text"].encode()).hexdigest(), claim["sha256"])
for claim in claims.get("words", []):
    check_word(claim)
for claim in claims.get("expressions", []):
    compare(claim["text"], claim["value"], eval(claim["text"]) % 5)
for claim in claims.get("parities", []):
    bits = claim["bits"]
    compare(str(bits), claim["targets"], [sum(bits[: i + 1]) % 2 for i in range(len(bits))])
print("\n".join(differences) if differences else f"agreed on {facts} facts")
