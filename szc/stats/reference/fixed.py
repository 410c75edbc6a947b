"""Prints the reference values that the unit tests of this folder hold as literals.

Run with Python 3 and scipy (values in the tests: scipy 1.17):  python3 fixed.py
"""

import math

import numpy
import scipy
from scipy import stats

print("scipy", scipy.__version__)

print("\n-- Student t quantiles: p, degrees of freedom, quantile")
for p in (0.975, 0.995, 0.9, 0.5, 0.025):
    for df in (1, 2, 5, 9, 19, 99, 4999):
        print(f"({p}, {df}, {stats.t.ppf(p, df):.17g}),")

print("\n-- normal quantiles: p, quantile")
for p in (0.975, 0.8, 0.5, 0.001):
    print(f"({p}, {stats.norm.ppf(p):.17g}),")

# Student (1908), "The probable error of a mean": hours of sleep gained by ten
# patients under two drugs (R's data set `sleep`); differences drug 2 - drug 1.
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
# Darwin's maize (Fisher 1935, section 17): crossed minus self-fertilized, eighths of an inch.
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
LARGE = [math.sin(i * 0.7) + 0.001 * i for i in range(5000)]

for name, data in (("sleep", SLEEP), ("maize", MAIZE), ("three", [1.0, 2.5, 2.0]), ("large", LARGE)):
    result = stats.ttest_1samp(data, 0.0)
    interval = result.confidence_interval(0.95)
    print(f"\n-- {name}: n {len(data)}")
    print(f"mean {numpy.mean(data):.17g}  sd {numpy.std(data, ddof=1):.17g}")
    print(f"median {numpy.median(data):.17g}")
    print(f"95 % t interval {interval.low:.17g} .. {interval.high:.17g}")
    result = stats.quantile_test(data, q=0, p=0.5)
    if len(data) >= 6:
        interval = result.confidence_interval(0.95)
        print(f"95 % sign interval {interval.low:.17g} .. {interval.high:.17g}")

print("\n-- sign interval: n, rank from each end, coverage")
for n in (6, 7, 8, 9, 10, 15, 20, 25, 50, 100, 1000, 5000):
    k = int(stats.binom.ppf(0.025, n, 0.5))
    while k > 0 and 2 * stats.binom.cdf(k - 1, n, 0.5) > 0.05:
        k -= 1
    while 2 * stats.binom.cdf(k, n, 0.5) <= 0.05:
        k += 1
    print(f"({n}, {k}, {1 - 2 * stats.binom.cdf(k - 1, n, 0.5):.17g}),")

print("\n-- blocks to resolve a ratio with 80 % power: sd, ratio, blocks before rounding up")
for sd, ratio in ((0.02, 1.01), (0.1, 1.01), (0.005, 1.03), (0.02, 1 / 1.01)):
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    print(f"({sd}, {ratio}, {(z * sd / math.log(ratio)) ** 2:.17g}),")

print("\n-- power of the two-sided 5 % paired t test, shift of d standard deviations")
for n, d in ((20, 1.0), (20, 0.5), (10, 1.0)):
    t = stats.t.ppf(0.975, n - 1)
    nc = d * math.sqrt(n)
    print(n, d, f"{1 - stats.nct.cdf(t, n - 1, nc) + stats.nct.cdf(-t, n - 1, nc):.12g}")
