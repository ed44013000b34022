"""Judges what the C++ says of groups and permutations by sympy. Argument: a JSON file of claims.
Prints "agreed on N facts" when nothing differs, else one line for each difference."""

import json
import sys

from sympy.combinatorics import Permutation, PermutationGroup

facts = 0
differences = []


def compare(what, ours, theirs):
    global facts
    facts += 1
    if ours != theirs:
        differences.append(f"{what}: shellgame {ours}, sympy {theirs}")


def check_group(claim):
    name, degree = claim["name"], claim["degree"]
    generators = [Permutation(g) for g in claim["generators"]] or [Permutation(list(range(degree)))]
    group = PermutationGroup(generators)
    compare(f"order of {name}", claim["order"], int(group.order()))
    compare(f"{name} is abelian", claim["abelian"], bool(group.is_abelian))
    if claim["class_sizes"] is not None:
        sizes = sorted(len(c) for c in group.conjugacy_classes())
        compare(f"class sizes of {name}", sorted(claim["class_sizes"]), sizes)
    for images in claim["samples"]:
        compare(f"{images} is in {name}", True, bool(group.contains(Permutation(images))))
    for images, is_element in claim["probes"]:
        compare(f"{images} is in {name}", is_element, bool(group.contains(Permutation(images))))
    if claim["elements"] is not None:
        elements = sorted(g.array_form for g in group.generate())
        compare(f"elements of {name}", claim["elements"], elements)


def check_permutation(claim):
    p, q = Permutation(claim["p"]), Permutation(claim["q"])
    # sympy multiplies left to right: (p * q)(x) = q(p(x)).
    compare(f"{p} then {q}", claim["then"], (p * q).array_form)
    compare(f"{p} after {q}", claim["after"], (q * p).array_form)
    compare(f"inverse of {p}", claim["inverse"], (~p).array_form)
    compare(f"{p} to the {claim['exponent']}", claim["power"], (p ** claim["exponent"]).array_form)
    compare(f"sign of {p}", claim["sign"], int(p.signature()))
    compare(f"order of {p}", claim["order"], int(p.order()))
    compare(f"rank of {p}", claim["rank"], int(p.rank()))
    cycles = "".join("(" + " ".join(str(x + 1) for x in c) + ")" for c in p.cyclic_form) or "()"
    compare(f"cycles of {p}", claim["cycles"], cycles)


with open(sys.argv[1]) as file:
    claims = json.load(file)
for group_claim in claims["groups"]:
    check_group(group_claim)
for permutation_claim in claims["permutations"]:
    check_permutation(permutation_claim)
print("\n".join(differences) if differences else f"agreed on {facts} facts")
