"""The neutral form of a filtering problem, as the belief oracles read it: JSON lines on stdin, one case a line.

  {"start": [m numbers], "steps": [{"weights": [m numbers], "columns": [[[target, probability], ...] for each source]}]}

A number is a JSON number (exactly the double that it denotes) or a string "p/q" (exactly that ratio). Nothing is
normalised or repaired here; what is not a distribution is refused in one sentence, with exit code 2.
"""

import json
import sys
from fractions import Fraction

# A row of doubles seldom sums to 1 exactly; a wrong row is off by more than this.
SUM_TOLERANCE = Fraction(1, 10**9)


class Case:
    """start[q], weights[t][q] and columns[t][q] = [(target, probability), ...], all of them Fractions."""

    def __init__(self, record):
        self.start = numbers(record["start"], "start")
        self.states = len(self.start)
        require_sum_one(self.start, "start")
        self.weights, self.columns = [], []
        for t, step in enumerate(record["steps"]):
            where = f"steps[{t}]"
            weights = numbers(step["weights"], f"{where}.weights")
            require(len(weights) == self.states, f"{where}.weights must have {self.states} entries, got {len(weights)}")
            require(
                len(step["columns"]) == self.states,
                f"{where}.columns must have {self.states} entries, got {len(step['columns'])}",
            )
            self.weights.append(weights)
            self.columns.append([self.column(c, f"{where}.columns[{q}]") for q, c in enumerate(step["columns"])])

    def column(self, entries, where):
        """The entries of one column, added up by target, without those that are zero."""
        column = {}
        for target, probability in entries:
            require(
                isinstance(target, int) and 0 <= target < self.states,
                f"{where}: a target must be in 0..{self.states - 1}, got {target}",
            )
            column[target] = column.get(target, Fraction(0)) + numbers([probability], where)[0]
        require_sum_one(column.values(), where)
        return [(target, probability) for target, probability in sorted(column.items()) if probability > 0]


def require(holds, sentence):
    if not holds:
        raise ValueError(sentence)


def numbers(values, where):
    fractions = [Fraction(value) for value in values]
    require(fractions, f"{where} must not be empty")
    require(min(fractions) >= 0, f"{where} must not be negative, got {min(fractions)}")
    return fractions


def require_sum_one(values, where):
    total = sum(values)
    require(abs(total - 1) <= SUM_TOLERANCE, f"{where} must sum to 1, got {float(total)!r}")


def answer_lines(answer):
    """Reads cases from stdin and prints answer(case), a JSON object, for each. Returns an exit code."""
    for number, line in enumerate(sys.stdin, start=1):
        if not line.strip():
            continue
        try:
            case = Case(json.loads(line))
            result = answer(case)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            print(f"case in line {number}: {type(error).__name__}: {error}", file=sys.stderr)
            return 2
        # allow_nan=False: a NaN is a failure of the engine, never an answer.
        print(json.dumps(result, allow_nan=False), flush=True)
    return 0
