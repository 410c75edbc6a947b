"""Reference values of bootstrap, sequential tests, autocorrelation, trend and change points."""

import math

import numpy
from scipy import integrate, special, stats
from statsmodels.tsa.stattools import acf

from samples import *


class Replicates:
    """What scipy's bootstrap needs to know of an earlier one."""

    def __init__(self, values):
        self.bootstrap_distribution = numpy.array(values)


def resample(values, b):
    """Resample b, drawn by a linear congruential generator so that every program draws the same."""
    n, state, out = len(values), b + 1, []
    for _ in range(n):
        state = (state * 1103515245 + 12345) % 2**31
        out.append(values[(state >> 16) % n])
    return out


def bootstrap():
    out = []
    statistics = {"mean": numpy.mean, "median": numpy.median, "standard deviation": lambda x, axis=-1: numpy.std(x, axis=axis, ddof=1)}
    for data in ([round(10 * x) for x in SLEEP], MAIZE, "sixty", WEIGHTS):
        for name, f in statistics.items():
            values = numbers(data)
            without_one = {float(f(numpy.array(values[:i] + values[i + 1:]), axis=-1)) for i in range(len(values))}
            if len(without_one) == 1:
                continue  # The acceleration is 0/0; scipy divides one rounding error by another.
            replicates = [float(f(numpy.array(resample(values, b)), axis=-1)) for b in range(2000)]
            result = stats.bootstrap((numpy.array(values),), f, n_resamples=0, bootstrap_result=Replicates(replicates),
                                     confidence_level=0.95, method="BCa", vectorized=True)
            interval = result.confidence_interval
            out.append({"data": data, "statistic": name, "lower": interval.low, "upper": interval.high})
    return out


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


def sign_e_value():
    """The average likelihood ratio over all probabilities of a plus sign."""
    out = []
    for n, k in ((1, 0), (8, 0), (10, 1), (20, 10), (50, 40), (100, 65), (5000, 2700)):
        log = n * math.log(2) + special.betaln(k + 1, n - k + 1)
        ratio = lambda p: p ** k * (1 - p) ** (n - k) * 2.0 ** n
        check = integrate.quad(ratio, 0, 1, epsabs=0, epsrel=1e-12)[0] if n <= 100 else math.exp(log)
        assert abs(check / math.exp(log) - 1) < 1e-10
        out.append({"n": n, "k": k, "e": math.exp(log)})
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


CASES = {f.__name__: f for f in (bootstrap, e_value, sign_e_value, autocorrelation, trend, change_points)}
