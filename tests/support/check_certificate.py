"""A second witness for decay certificates: python3 check_certificate.py FILE. Replays the word with fractions, shares
nothing with the C++ check, and ends with an error at the first claim that does not hold."""
import json
import sys
from fractions import Fraction


def main(path):
    c = json.load(open(path))
    n, joint = c["n"], c["representation"] == "joint"
    belief = {tuple(s["order"]): Fraction(s["probability"]) for s in c["start"]}
    assert sum(belief.values()) == 1, "the start must sum to 1"
    h = [[sum(p for o, p in belief.items() if o[v] == x + 1) for x in range(n)] for v in range(n)]
    mass = Fraction(1)  # the product of all survival probabilities

    def say(name):
        nonlocal belief, h, mass
        symbol = c["symbols"][name]
        if "reveal" in symbol:
            v, x = symbol["reveal"]["variable"] - 1, symbol["reveal"]["value"]
            kept = {o: p for o, p in belief.items() if o[v] == x}
            chance = sum(kept.values())
            assert chance > 0, f"'{name}' is impossible at its place"
            mass *= chance
            belief = {o: p / chance for o, p in kept.items()}
            h = [[Fraction(0) if r == v or k == x - 1 else h[r][k] for k in range(n)] for r in range(n)]
            h[v][x - 1] = Fraction(1)
            return
        outcomes = [(Fraction(m["probability"]), [f - 1 for f in m["from"]]) for m in symbol["mixture"]]
        assert sum(p for p, _ in outcomes) == 1, f"'{name}' must sum to 1"
        new = {}
        for p, source in outcomes:
            for o, q in belief.items():
                moved = tuple(o[s] for s in source)
                new[moved] = new.get(moved, 0) + p * q
        belief = new
        h = [[sum(p * h[source[r]][k] for p, source in outcomes) for k in range(n)] for r in range(n)]

    def norm():
        return mass if joint else min([sum(r) for r in h] + [sum(col) for col in zip(*h)])

    for name in c["before"]:
        say(name)
    norms = [norm()]
    for _ in range(c["claims"]["repetitions"]):
        for name in c["cycle"]:
            say(name)
        norms.append(norm())
    assert norms == [Fraction(x) for x in c["claims"]["norms"]], "the norms are not as claimed"
    assert norms[-1] / norms[-2] == Fraction(c["claims"]["factor_per_cycle"]), "the factor is not as claimed"
    print("confirmed")


main(sys.argv[1])
