"""Reference values of tests and intervals for means and variances: scipy, statsmodels, pingouin."""

import math

import numpy
import pandas
import pingouin
from scipy import stats
from statsmodels.stats.anova import AnovaRM
from statsmodels.stats.multitest import multipletests

from samples import *


def distributions():
    out = []
    for name, law, arguments in (
        ("t", stats.t, [(x, d) for x in (0.0, 0.3, 2.0, 9.0, 40.0) for d in (1, 2.5, 9, 99, 4999)]),
        ("normal", stats.norm, [(x,) for x in (-3.0, 0.0, 0.5, 1.96, 5.0, 12.0)]),
        ("f", stats.f, [(x, a, b) for x in (0.0, 0.5, 4.0, 60.0) for a, b in ((1, 9), (3, 20), (2.2, 7.7), (4, 4995))]),
    ):
        for a in arguments:
            out.append({"law": name, "arguments": a, "upper": law.sf(*a)})
    return out


def welch():
    out = []
    for a, b in (
        (SLEEP_1, SLEEP_2), (DEPRESSION_BEFORE, DEPRESSION_AFTER), ([1.0, 2.5, 2.0], [4.0, 4.5]),
        ("large", "large negated"), (PERMEABILITY_TERM, PERMEABILITY_EARLY), (MAIZE, SLEEP),
    ):
        result = stats.ttest_ind(numbers(b), numbers(a), equal_var=False)
        interval = result.confidence_interval(0.95)
        out.append({"a": a, "b": b, "t": result.statistic, "df": result.df, "p": result.pvalue,
                    "lower": interval.low, "upper": interval.high})
    return out


def brown_forsythe():
    out = []
    for groups in (
        [SLEEP_1, SLEEP_2], LOOMS, [[1.0, 2.5, 2.0], [4.0, 4.5, 9.0]], ["large", "large negated", "large tied"],
        [MAIZE, SLEEP, WEIGHTS], [[1e-200, 2e-200, 4e-200], [1e-200, 9e-200, 5e-200]],
    ):
        scale = 1e200 if groups[0][0] == 1e-200 else 1.0
        result = stats.levene(*[numpy.array(numbers(g)) * scale for g in groups], center="median")
        lengths = [len(numbers(g)) for g in groups]
        out.append({"groups": groups, "f": result.statistic, "p": result.pvalue,
                    "df": [len(groups) - 1, sum(lengths) - len(groups)]})
    return out


def multiplicity():
    out = []
    for p in (NEUHAUS, [0.01, 0.04, 0.03, 0.005], [0.5], [0.02, 0.02, 0.02], [0.0, 1.0, 0.2, 0.9]):
        out.append({"p": p, "holm": list(multipletests(p, method="holm")[1])})
    return out


def anova_case(rows):
    data = pandas.DataFrame(
        [(i, j, x) for i, row in enumerate(rows) for j, x in enumerate(row)], columns=["subject", "level", "x"])
    table = AnovaRM(data, "x", "subject", within=["level"]).fit().anova_table.iloc[0]
    other = pingouin.rm_anova(data=data, dv="x", within="level", subject="subject", correction=True, detailed=True, effsize="ng2")
    partial = pingouin.rm_anova(data=data, dv="x", within="level", subject="subject", correction=True, detailed=True, effsize="np2")
    row = other.iloc[0]
    columns = set(other.columns)
    p_gg = next((row[c] for c in ("p_GG_corr", "p-GG-corr") if c in columns), None)
    k = len(rows[0])
    wide = numpy.array(rows)
    mse = float(other.iloc[1]["MS"])
    half = stats.t.ppf(0.975, (k - 1) * (len(rows) - 1)) * math.sqrt(mse / len(rows))
    contrasts = [stats.ttest_rel(wide[:, j], wide[:, 0]) for j in range(1, k)]
    return {"rows": rows, "f": table["F Value"], "df": [table["Num DF"], table["Den DF"]], "p": table["Pr > F"],
            "epsilon": pingouin.epsilon(pandas.DataFrame(wide), correction="gg") if k > 2 else 1.0,
            "p_corrected": p_gg if p_gg is not None else table["Pr > F"],
            "partial_eta_squared": partial.iloc[0]["np2"], "generalized_eta_squared": row["ng2"],
            "half_width": half, "contrast_p": [c.pvalue for c in contrasts], "contrast_t": [c.statistic for c in contrasts]}


def anova():
    pairs = [list(x) for x in zip(SLEEP_1, SLEEP_2)]
    wavy = [[math.sin(i * 1.7 + j * j) + 0.1 * j * i + 2.0 * i for j in range(5)] for i in range(18)]
    tiny = [[1.0, 2.0, 4.0], [2.0, 2.5, 3.5], [0.5, 3.0, 4.5]]
    return [anova_case(rows) for rows in (RECALL, pairs, wavy, tiny)]


def kalibera_jones():
    """Two levels: the analysis of variance of a random effect; three: nested means, with numpy's variances."""
    out = [{"shape": [4, 4], "data": [x for row in LOOMS for x in row]}]
    shape = (5, 4, 3)
    cube = [math.sin(17.0 * i) * 2 + math.cos(5.0 * j + i) + 0.5 * math.sin(3.0 * k + 7 * j + i)
            for i in range(5) for j in range(4) for k in range(3)]
    out.append({"shape": list(shape), "data": cube})
    for case in out:
        values = numpy.array(case["data"]).reshape(case["shape"])
        s = []
        while values.ndim > 0:
            s.append(float(numpy.mean(numpy.var(values, axis=-1, ddof=1))))
            values = values.mean(axis=-1)
        sizes = case["shape"][::-1]
        t = [s[0]] + [s[i] - s[i - 1] / sizes[i - 1] for i in range(1, len(s))]
        half = stats.t.ppf(0.975, sizes[-1] - 1) * math.sqrt(s[-1] / sizes[-1])
        case.update(biased=s, unbiased=t, mean=float(values), lower=float(values) - half, upper=float(values) + half)
    return out


CASES = {f.__name__: f for f in (distributions, welch, brown_forsythe, multiplicity, anova, kalibera_jones)}
