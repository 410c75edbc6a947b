"""Reference values of sequential tests, autocorrelation, trend and change points."""

import math

import numpy
from scipy import integrate, stats
from statsmodels.tsa.stattools import acf

from samples import *


def e_value():
    """The Bayes factor by its definition: an effect with prior N(0, g), integrated over noncentral t densities."""
    out = []
    for n, t in ((2, 0.5), (5, 0.0), (10, 2.0), (10, -3.1), (20, 1.0), (37, 3.2), (100, 2.5)):
        nu, g = n - 1, 1.0
        density = lambda d: stats.nct.pdf(t, nu, math.sqrt(n) * d) * stats.norm.pdf(d, 0, math.sqrt(g))
        centre = t / math.sqrt(n)
        value = integrate.quad(density, centre - 8, centre + 8, points=[centre], epsabs=0, epsrel=1e-12, limit=500)[0]
        out.append({"n": n, "t": t, "e": value / stats.t.pdf(t, nu)})
    return out


def autocorrelation():
    return [{"data": d, "r1": acf(numbers(d), nlags=1, fft=False)[1]}
            for d in (NILE, SLEEP, MAIZE, "large", "large tied", "sixty", [1.0, 2.5, 2.0])]


def trend():
    """Mann's test: Kendall's tau against time; the normal form with a continuity correction of 1 (Kendall 1975)."""
    out = []
    for data in (NILE, SLEEP, MAIZE, "sixty", "fifty", "large tied", [1.0, 2.5, 2.0], [1.0, 2.0, 3.0, 4.0], [2.0, 2.0, 3.0, 3.0, 9.0]):
        y = numpy.array(numbers(data))
        n = len(y)
        s = sum(float(numpy.sign(y[i + 1:] - y[i]).sum()) for i in range(n))
        ties = numpy.unique(y, return_counts=True)[1].astype(float)
        variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
        exact = n <= 50 and len(ties) == n
        if exact:
            p = stats.kendalltau(range(n), y, method="exact").pvalue
        else:
            p = 2 * stats.norm.sf(max(abs(s) - 1, 0) / math.sqrt(variance))
        case = {"data": data, "s": s, "exact": exact, "p": p, "tau": stats.kendalltau(range(n), y).statistic}
        slopes = stats.theilslopes(y, numpy.arange(n), 0.95)
        case.update(slope=slopes.slope, lower=slopes.low_slope, upper=slopes.high_slope)
        out.append(case)
    return out


def energy(x, y):
    """The scaled divergence of Matteson and James (2014), equations 4 and 5, by its definition."""
    m, n = len(x), len(y)
    x, y = numpy.array(x), numpy.array(y)
    between = 2 * abs(x[:, None] - y[None, :]).mean()
    within = sum(abs(z[:, None] - z[None, :]).sum() / (len(z) * (len(z) - 1)) for z in (x, y))
    return m * n / (m + n) * (between - within)


def best_split(values, least):
    best = (-math.inf, 0)
    for tau in range(least, len(values) - least + 1):
        for kappa in range(tau + least, len(values) + 1):
            best = max(best, (energy(values[:tau], values[tau:kappa]), tau), key=lambda z: z[0])
    return best


def change_points():
    step = [math.sin(i * 1.3) * 0.5 + (2.0 if 12 <= i < 30 else 0.0) for i in range(44)]
    return [{"data": d, "least": k, "statistic": best_split(numbers(d), k)[0], "split": best_split(numbers(d), k)[1]}
            for d, k in ((NILE, 10), (step, 5), ("sixty", 5), (SLEEP, 2), (MAIZE, 3))]


CASES = {f.__name__: f for f in (e_value, autocorrelation, trend, change_points)}
