#!/usr/bin/env python3
"""Makes tests/data/rounding/: what NumPy and ml_dtypes give for casts and arithmetic in small floating-point formats.

  python3 -m venv VENV && VENV/bin/pip install numpy==2.4.6 ml_dtypes==0.6.0
  VENV/bin/python tests/support/make_rounding.py tests/data/rounding

Writes casts.csv.xz (a double, then its cast to each format) and operations.csv.xz (a format, two of its numbers, their
sum, product and quotient). Numbers are C hex floats, or inf, -inf, nan. Each result is compared with the rounding of the
exact value in rational numbers (to nearest, ties to even). Results that differ are left empty and counted; the only cause
that is accepted is a cast that rounds twice, first to fp32 (ml_dtypes 0.6 casts doubles so).
"""

import csv
import io
import lzma
import math
import pathlib
import random
import sys
from collections import Counter
from fractions import Fraction

import ml_dtypes
import numpy as np


class Format:
    """A binary format: bits of its significand (with the hidden one), smallest normal exponent, largest finite value."""

    def __init__(self, name, dtype, bits, lowest, largest, infinite):
        self.name, self.dtype, self.bits, self.lowest = name, np.dtype(dtype), bits, lowest
        self.largest, self.overflow = largest, math.inf if infinite else math.nan

    def rounded(self, value):
        """The exact Fraction `value`, rounded to nearest, ties to even."""
        size = abs(value)
        exponent = size.numerator.bit_length() - size.denominator.bit_length() if size else self.lowest
        if size and Fraction(2) ** exponent > size:
            exponent -= 1
        unit = Fraction(2) ** (max(exponent, self.lowest) - self.bits + 1)
        # round() of a Fraction takes ties to even.
        nearest = round(size / unit) * unit
        return self.overflow if nearest > self.largest else float(nearest)

    def smallest(self):
        return math.ldexp(1.0, self.lowest - self.bits + 1)


FORMATS = [
    Format("fp32", np.float32, 24, -126, (2 - 2.0**-23) * 2.0**127, True),
    Format("fp16", np.float16, 11, -14, 65504.0, True),
    Format("bf16", ml_dtypes.bfloat16, 8, -126, (2 - 2.0**-7) * 2.0**127, True),
    Format("float8_e4m3fn", ml_dtypes.float8_e4m3fn, 4, -6, 448.0, False),
    Format("float8_e5m2", ml_dtypes.float8_e5m2, 3, -14, 57344.0, True),
]


def shown(value):
    value = float(value)
    return value.hex() if math.isfinite(value) else str(value)


def expected(form, value, negative):
    """The rounding of an exact value; its sign is given apart, for the sake of -0."""
    size = form.rounded(value)
    return -size if negative else size


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def doubles(draw):
    """Doubles worth a cast: zeros and infinities, each format's boundaries and ties with their neighbours, random ones."""
    values = [0.0, math.inf, math.nan, 1.0, sys.float_info.max, sys.float_info.min, 5e-324]
    for form in FORMATS:
        step = math.ldexp(1.0, 1 - form.bits)  # of the numbers in [1, 2)
        top_step = math.ldexp(1.0, math.frexp(form.largest)[1] - form.bits)
        smallest, normal = form.smallest(), math.ldexp(1.0, form.lowest)
        corners = [form.largest, form.largest + top_step / 2, form.largest + top_step, form.largest * 2]
        corners += [smallest * k / 2 for k in range(1, 12)] + [smallest / 4, smallest * 3 / 4]
        corners += [normal, normal - smallest, normal - smallest / 2, normal + smallest / 2, normal + smallest]
        corners += [1 + step * k / 4 for k in range(0, 13)] + [2 - step / 2, 2 - step, 2 - step / 4]
        for _ in range(40):  # ties between neighbours, anywhere in the range
            scale = math.ldexp(1.0, draw.randrange(form.lowest - form.bits, math.frexp(form.largest)[1]))
            corners.append(scale * (1 + step * draw.randrange(1 << (form.bits - 1)) + step / 2))
        for corner in corners:
            values += [corner, math.nextafter(corner, 0), math.nextafter(corner, math.inf)]
    values += [draw.gauss(0, 1) for _ in range(900)]
    values += [draw.gauss(0, 1) * 2.0 ** draw.uniform(-30, 20) for _ in range(600)]
    values += [draw.gauss(0, 1) * 2.0 ** draw.uniform(-1080, 1020) for _ in range(200)]
    values += [-value for value in values[:1000]]
    unique = {shown(value): value for value in values}
    return list(unique.values())


def casts(values, refused):
    results = [np.array(values).astype(form.dtype).astype(np.float64) for form in FORMATS]
    for i, value in enumerate(values):
        row = [shown(value)]
        for form, column in zip(FORMATS, results):
            if math.isfinite(value):
                exact = expected(form, Fraction(value), math.copysign(1, value) < 0)
            else:
                exact = value if math.isnan(value) else math.copysign(form.overflow, value)
            agrees = same(float(column[i]), exact)
            if not agrees:
                twice = expected(form, Fraction(float(results[0][i])), math.copysign(1, value) < 0)
                assert same(float(column[i]), twice), f"cast of {value!r} to {form.name} gave {column[i]}"
            refused[f"cast to {form.name}"] += not agrees
            row.append(shown(column[i]) if agrees else "")
        yield row


def operations(draw, refused, pairs):
    for form in FORMATS:
        spread = min(12, -form.lowest - 1)
        drawn = [draw.gauss(0, 1) * 2.0 ** draw.uniform(-spread, spread) for _ in range(2 * pairs - 40)]
        # Sums that cancel, quotients of neighbours, and the ends of the range.
        drawn += [form.largest, form.largest, form.largest, form.smallest(), form.smallest(), 3.0, 1.0, 3.0]
        drawn += [form.smallest(), 2.0, -form.largest, form.largest, 0.0, 1.0, -0.0, 1.0] + [1 + i / 32 for i in range(24)]
        numbers = np.array(drawn).astype(form.dtype)
        a, b = numbers[0::2], numbers[1::2]
        with np.errstate(all="ignore"):
            results = [x.astype(np.float64) for x in (a + b, a * b, a / b)]
        for i, (x, y) in enumerate(zip(a.astype(np.float64), b.astype(np.float64))):
            if not (math.isfinite(x) and math.isfinite(y) and y != 0):
                continue
            p, q = Fraction(float(x)), Fraction(float(y))
            signs = math.copysign(1, x) * math.copysign(1, y) < 0
            exact = [
                expected(form, p + q, p + q < 0 or (x == 0 and y == 0 and math.copysign(1, x) + math.copysign(1, y) < 0)),
                expected(form, p * q, signs),
                expected(form, p / q, signs),
            ]
            row = [form.name, shown(x), shown(y)]
            for name, column, right in zip(("sum", "product", "quotient"), results, exact):
                agrees = same(float(column[i]), right)
                refused[f"{name} in {form.name}"] += not agrees
                row.append(shown(column[i]) if agrees else "")
            yield row


def write(path, header, rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    count = 0
    for row in rows:
        writer.writerow(row)
        count += 1
    path.write_bytes(lzma.compress(text.getvalue().encode(), preset=9))
    print(f"{path}: {count} rows, {path.stat().st_size} bytes")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    draw, refused = random.Random(1), Counter()
    with np.errstate(all="ignore"):
        names = [form.name for form in FORMATS]
        write(folder / "casts.csv.xz", ["double"] + names, casts(doubles(draw), refused))
        header = ["format", "a", "b", "sum", "product", "quotient"]
        write(folder / "operations.csv.xz", header, operations(draw, refused, 500))
    print("not the rounding of the exact value, left empty:", {name: n for name, n in refused.items() if n})


if __name__ == "__main__":
    main()
