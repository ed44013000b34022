"""Makes statistics.json: rank tests, Holm's correction and bootstrap intervals as SciPy and statsmodels give them.

    pip install scipy statsmodels && python3 make.py > statistics.json
"""
import json
import sys

import numpy as np
import scipy
import scipy.stats as st
import statsmodels
from statsmodels.stats.multitest import multipletests

rng = np.random.default_rng(7)


def statistic(a, b, axis):
    return st.mannwhitneyu(a, b, axis=axis, method="asymptotic").statistic


rank_tests = []
for n, m in [(3, 4), (5, 5), (10, 10), (8, 10), (10, 9), (1, 6)]:
    x, y = np.round(rng.normal(0.6, 1, n), 3), np.round(rng.normal(0, 1, m), 3)
    p = st.mannwhitneyu(x, y, alternative="greater", method="exact").pvalue
    rank_tests.append({"high": x.tolist(), "low": y.tolist(), "ties": False, "p": float(p)})
# With ties SciPy's exact method does not hold: all divisions are counted instead.
for n, m in [(3, 4), (5, 5), (6, 5)]:
    x, y = np.round(rng.normal(0.6, 1, n)), np.round(rng.normal(0, 1, m))
    p = st.permutation_test((x, y), statistic, alternative="greater", n_resamples=np.inf, vectorized=True).pvalue
    rank_tests.append({"high": x.tolist(), "low": y.tolist(), "ties": True, "p": float(p)})

corrections = []
for p in ([0.01, 0.04, 0.03, 0.005], [0.5, 0.6, 0.001], [0.02, 0.02, 0.02, 0.02], [0.9]):
    corrections.append({"p": p, "adjusted": multipletests(p, method="holm")[1].tolist()})

options = {"n_resamples": 200_000, "confidence_level": 0.9, "method": "percentile", "batch": 10_000}
medians, differences = [], []
for n in (5, 8, 10, 20):
    x = np.round(rng.normal(0, 1, n), 3)
    found = st.bootstrap((x,), np.median, rng=np.random.default_rng(1), **options).confidence_interval
    medians.append({"numbers": x.tolist(), "low": float(found.low), "high": float(found.high)})
for n, m in ((10, 10), (9, 8)):
    x, y = np.round(rng.normal(0.5, 1, n), 3), np.round(rng.normal(0, 1, m), 3)

    def difference(a, b, axis=-1):
        return np.median(a, axis=axis) - np.median(b, axis=axis)

    found = st.bootstrap((x, y), difference, rng=np.random.default_rng(1), **options).confidence_interval
    differences.append({"a": x.tolist(), "b": y.tolist(), "low": float(found.low), "high": float(found.high)})

json.dump({"made_by": f"SciPy {scipy.__version__}, statsmodels {statsmodels.__version__}", "confidence": 0.9,
           "mann_whitney": rank_tests, "holm": corrections, "bootstrap_median": medians,
           "bootstrap_median_difference": differences}, sys.stdout, indent=1)
print()
