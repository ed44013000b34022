"""The NumPy yardstick of `shellgame bench belief`: a belief over S_n, moved by an index array of n! entries.

Usage: numpy_belief.py N. Prints "ready" once the index is made (the order is the lexicographic one of
itertools.permutations; the swap is that of the first and the last variable). Then each line "swap" or "reveal" on
standard input runs that step for at least 2 ms, and prints the seconds of one.
"""
import math
import sys
import time

import numpy


def states(n):
    """All permutations of n values in order, a row each."""
    if n == 0:
        return numpy.zeros((1, 0), numpy.int8)
    rest = states(n - 1)
    rows = []
    for first in range(n):
        others = numpy.delete(numpy.arange(n, dtype=numpy.int8), first)
        rows.append(numpy.column_stack([numpy.full(len(rest), first, numpy.int8), others[rest]]))
    return numpy.concatenate(rows)


def ranks(rows):
    n = rows.shape[1]
    result = numpy.zeros(len(rows), numpy.int64)
    for i in range(n):
        smaller = (rows[:, i + 1:] < rows[:, i:i + 1]).sum(axis=1)
        result += smaller * math.factorial(n - 1 - i)
    return result


def main():
    n = int(sys.argv[1])
    rows = states(n)
    swapped = rows.copy()
    swapped[:, [0, -1]] = rows[:, [-1, 0]]
    index = ranks(swapped)
    mask = (rows[:, -1] == 0).astype(numpy.float64)
    del rows, swapped
    belief = numpy.full(math.factorial(n), 1.0 / math.factorial(n))
    print("ready", flush=True)
    for line in sys.stdin:
        count, start = 0, time.perf_counter()
        while count == 0 or time.perf_counter() - start < 0.002:
            if line.strip() == "swap":
                belief = 0.5 * belief + 0.5 * belief[index]
            else:
                revealed = belief * mask
                revealed.sum()
            count += 1
        print((time.perf_counter() - start) / count, flush=True)


main()
