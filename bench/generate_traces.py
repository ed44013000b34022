"""A straightforward Python generator of the traces that `shellgame trace` writes by default.

The yardstick of `shellgame bench trace`, which runs it in the same minute as our own generator: S_n, full
permutations, a reveal of a uniformly drawn variable after every so many commands. Prints bytes and seconds.
Usage: generate_traces.py SECONDS [VARIABLES COMMANDS SPACING]
"""
import random
import sys
import time


def trace(rng, variables, commands, spacing):
    names = [chr(ord("a") + i) for i in range(variables)]
    state = list(range(1, variables + 1))
    lines = [f">>> {name} = {value}" for name, value in zip(names, state)]
    for command in range(1, commands + 1):
        order = list(range(variables))
        rng.shuffle(order)
        state = [state[i] for i in order]
        lines.append(f">>> {', '.join(names)} = {', '.join(names[i] for i in order)}")
        if command % spacing == 0:
            i = rng.randrange(variables)
            lines.append(f">>> print('{names[i]}', {names[i]})")
            lines.append(f"{names[i]} {state[i]}")
    return "\n".join(lines) + "\n"


def main():
    seconds = float(sys.argv[1])
    variables, commands, spacing = map(int, sys.argv[2:5]) if len(sys.argv) > 2 else (5, 64, 8)
    rng = random.Random(0)
    size = traces = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(50):
            size += len(trace(rng, variables, commands, spacing))
        traces += 50
    print(size, traces, time.perf_counter() - start)


if __name__ == "__main__":
    main()
