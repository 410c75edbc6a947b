"""Reference values of the rank test, normality and quantiles: scipy."""

import numpy
from scipy import stats

from samples import *


def signed_rank():
    depression = [a - b for a, b in zip(DEPRESSION_AFTER, DEPRESSION_BEFORE)]
    out = []
    for data, method in (
        (depression, "exact"), (MAIZE, "exact"), (SLEEP, "asymptotic"), ([1.0, 2.5, 2.0], "exact"), ("fifty", "exact"),
        ("sixty", "asymptotic"), ("large", "asymptotic"), ("large tied", "asymptotic"), ([1.0, 1.0, -1.0, 0.0, 2.0], "asymptotic"),
        ([3.0, 3.0, -3.0, -3.0], "asymptotic"),
    ):
        values = numpy.array(numbers(data))
        result = stats.wilcoxon(values, zero_method="wilcox", correction=True, method=method)
        kept = values[values != 0]
        v = float(stats.rankdata(abs(kept))[kept > 0].sum())
        out.append({"data": data, "exact": method == "exact", "v": v, "p": result.pvalue})
    return out


def shapiro_wilk():
    """scipy's normal scores are good to seven digits (PPND7); so are these values."""
    out = []
    for data in (WEIGHTS, SLEEP, MAIZE, [1.0, 2.5, 2.0], [1.0, 2.0, 3.0], [0.0, 0.0, 1.0], [3.0, 1.0, 4.0, 1.5],
                 [3.0, 1.0, 4.0, 1.5, 9.0], [3.0, 1.0, 4.0, 1.5, 9.0, 2.6], "fifty", "sixty", "large", "large tied", NILE,
                 PERMEABILITY_TERM + PERMEABILITY_EARLY[:2]):
        result = stats.shapiro(numbers(data))
        out.append({"data": data, "w": result.statistic, "p": result.pvalue})
    return out


def quantiles():
    out = []
    for data in (SLEEP, MAIZE, [1.0, 2.5, 2.0], [7.0], "large", WEIGHTS):
        values = numbers(data)
        for p in (0.0, 0.1, 0.25, 0.5, 0.9, 0.99, 1.0):
            out.append({"data": data, "p": p, "type_7": numpy.quantile(values, p)})
    return out


def normal_scores():
    """R's ppoints: (i - a)/(n + 1 - 2a) with a = 3/8 up to ten values, else 1/2."""
    out = []
    for n in (1, 2, 5, 10, 11, 30):
        a = 3 / 8 if n <= 10 else 1 / 2
        out.append({"n": n, "scores": [stats.norm.ppf((i - a) / (n + 1 - 2 * a)) for i in range(1, n + 1)]})
    return out


def spearman():
    out = []
    for x, y in (
        (DEPRESSION_BEFORE, DEPRESSION_AFTER), ([1.0, 2.0, 2.0, 3.0], [4.0, 1.0, 1.0, 9.0]), ([1.0, 1.0, 2.0], [3.0, 2.0, 2.0]),
        ("large", "large negated"), ("large", "large tied"), (WEIGHTS, WEIGHTS[::-1]), ([0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 2.0, 0.5]),
    ):
        out.append({"x": x, "y": y, "rho": stats.spearmanr(numbers(x), numbers(y)).statistic})
    return out


def rank_sum():
    out = []
    for first, second in ((PERMEABILITY_TERM, PERMEABILITY_EARLY), ([1.0, 2.0], [3.0]), ("forty-five", [0.21, 1.5, -0.73, 1.9])):
        def p(alternative):
            return stats.mannwhitneyu(numbers(second), numbers(first), method="exact", alternative=alternative).pvalue
        out.append({"first": first, "second": second, "lower": p("less"), "higher": p("greater")})
    return out


CASES = {f.__name__: f for f in (signed_rank, shapiro_wilk, quantiles, normal_scores, spearman, rank_sum)}
