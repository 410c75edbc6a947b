"""Reference values of what plots show: kernel densities, bands of QQ plots, shares of factors."""

import numpy
from scipy import stats

from samples import *


def density():
    """A Gaussian kernel with the bandwidth of R's bw.nrd0."""
    out = []
    for data in (SLEEP, MAIZE, "fifty", "forty-five"):
        values = numpy.array(numbers(data))
        deviation = values.std(ddof=1)
        quarters = numpy.subtract(*numpy.quantile(values, [0.75, 0.25])) / 1.34
        width = 0.9 * min(deviation, quarters) * len(values) ** -0.2
        kernel = stats.gaussian_kde(values, bw_method=width / deviation)
        places = numpy.linspace(values.min(), values.max(), 5)
        out.append({"data": data, "bandwidth": width, "places": list(places), "density": list(kernel(places))})
    return out


def band():
    out = []
    for n in (1, 2, 10, 45):
        order = [stats.beta(i, n + 1 - i) for i in range(1, n + 1)]
        out.append({"n": n, "lower": [stats.norm.ppf(o.ppf(0.025)) for o in order],
                    "upper": [stats.norm.ppf(o.ppf(0.975)) for o in order]})
    return out


CASES = {f.__name__: f for f in (density, band)}
