"""Writes the reference values that the unit tests read: parametric.json, ranks.json, series.json,
shape.json.

    pip install numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0 pingouin==0.7.0 && python3 make.py
"""

import json
import pathlib

import numpy
import pingouin
import scipy
import statsmodels

import parametric
import ranks
import series
import shape

versions = {m.__name__: m.__version__ for m in (numpy, scipy, statsmodels, pingouin)}


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (numpy.floating, numpy.integer)):
        return value.item()
    return value


for module in (parametric, ranks, series, shape):
    cases = {"versions": versions} | {name: plain(make()) for name, make in module.CASES.items()}
    lines = []
    for name, value in cases.items():
        rows = [json.dumps(v, allow_nan=False) for v in value] if isinstance(value, list) else None
        body = "[\n    " + ",\n    ".join(rows) + "\n  ]" if rows else json.dumps(value)
        lines.append(f"  {json.dumps(name)}: {body}")
    path = pathlib.Path(__file__).with_name(module.__name__ + ".json")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
