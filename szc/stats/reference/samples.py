"""Data of the reference values: published examples and lists made by formulas.

A case names its data either by the numbers themselves or by one of the words of `made`, which
`calibration/data.rs` makes by the same formulas.
"""

import math

# Student (1908), R's data set `sleep`: hours gained by ten patients under two drugs.
SLEEP_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SLEEP_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]

# Darwin's maize (Fisher 1935, section 17), crossed minus self-fertilized, eighths of an inch.
MAIZE = [49.0, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]

# Hollander and Wolfe (1973), p. 29: Hamilton depression scale before and after; p. 69: permeability.
DEPRESSION_BEFORE = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
DEPRESSION_AFTER = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
PERMEABILITY_TERM = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
PERMEABILITY_EARLY = [1.15, 0.88, 0.90, 0.74, 1.21]

# Shapiro and Wilk (1965), section 4: weights of eleven men in pounds.
WEIGHTS = [148.0, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236]

# Cobb (1978), R's data set `Nile`: annual flow at Aswan from 1871 to 1970, 10^8 m^3.
NILE = [
    1120.0, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180,
    799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701,
    916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845, 864, 862,
    698, 845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812,
    742, 801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906,
    901, 1170, 912, 746, 919, 718, 714, 740,
]

# Loftus and Masson (1994), table 2: words recalled by ten subjects after 1, 2 and 5 seconds a word.
RECALL = [
    [10.0, 13, 13], [6, 8, 8], [11, 14, 14], [22, 23, 25], [16, 18, 20],
    [15, 17, 17], [1, 1, 4], [12, 15, 17], [9, 12, 12], [8, 9, 12],
]

# Benjamini and Hochberg (1995), section 4.1: fifteen P-values of a clinical study.
NEUHAUS = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
    0.6528, 0.7590, 1.0,
]

# Montgomery, Design and Analysis of Experiments, section 13.1: strength of cloth from four looms.
LOOMS = [[98.0, 97, 99, 96], [91, 90, 93, 92], [96, 95, 97, 95], [95, 96, 99, 98]]

MADE = {
    "large": [math.sin(i * 0.7) + 0.001 * i for i in range(5000)],
    "large negated": [-math.sin(i * 0.7) - 0.0009 * i for i in range(5000)],
    "large tied": [math.floor(10 * math.sin(i * 0.7)) for i in range(5000)],
    "sixty": [math.sin(i * 1.3) + 0.01 * i for i in range(60)],
    "forty-five": [math.cos(i * 1.1) * (1 + 0.02 * i) + 0.2 for i in range(45)],
    "fifty": [math.sin(i * 2.1) + 0.001 * i + 0.3 for i in range(50)],
}


def numbers(data):
    """The list that a case's data stand for."""
    return [float(x) for x in (MADE[data] if isinstance(data, str) else data)]
