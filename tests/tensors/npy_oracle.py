"""Loads each .npy file that is named in the request, with NumPy: the numbers must be -3, -2, ..., and numpy.save
of the array must give the same bytes."""

import io
import sys

import numpy as np

names = open(sys.argv[1]).read().split("\n")[:-1]
equal = 0
for name in names:
    array = np.load(name)
    assert (array.ravel() == np.arange(array.size) - 3).all(), name
    again = io.BytesIO()
    np.save(again, array)
    with open(name, "rb") as file:
        mine = file.read()
    assert mine == again.getvalue(), (name, mine[:200], again.getvalue()[:200])
    equal += 1
print(equal, "equal")
