"""What Python scripts do: parse, format, sort, look up, call methods, compute. argv[1]: rounds."""
import json
import math
import pickle
import re
import sys
from collections import Counter, defaultdict
from functools import lru_cache
from heapq import heappop, heappush


class Lcg:
    """Numbers that are the same in every version of Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % bound


class Vector:
    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def scaled(self, factor):
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def length(self):
        return math.sqrt(self.x * self.x + self.y * self.y + self.z * self.z)


def records(random, number):
    for index in range(number):
        yield {
            "id": index,
            "name": "".join("abcdefghij"[random.below(10)] for _ in range(8)),
            "scores": [random.below(1000) for _ in range(6)],
            "tags": {str(random.below(50)): random.below(2) == 0 for _ in range(3)},
        }


def shortest_paths(random, nodes):
    edges = defaultdict(list)
    for node in range(nodes):
        for _ in range(4):
            edges[node].append((random.below(nodes), 1 + random.below(100)))
    distances, queue = {}, [(0, 0)]
    while queue:
        distance, node = heappop(queue)
        if node in distances:
            continue
        distances[node] = distance
        for other, weight in edges[node]:
            if other not in distances:
                heappush(queue, (distance + weight, other))
    return sum(distances.values())


@lru_cache(maxsize=None)
def partitions(total, largest):
    if total == 0:
        return 1
    return sum(partitions(total - part, part) for part in range(1, min(total, largest) + 1))


def words(random, number):
    return " ".join(
        "".join(chr(97 + random.below(26)) for _ in range(1 + random.below(6)))
        for _ in range(number)
    )


def one_round(seed):
    random = Lcg(seed)
    rows = list(records(random, 300))
    text = json.dumps(rows, sort_keys=True)
    again = pickle.loads(pickle.dumps(json.loads(text)))
    again.sort(key=lambda row: (row["scores"], row["name"]))
    yield again[0]["name"], len(text)
    yield shortest_paths(random, 600)
    prose = words(random, 1500)
    counts = Counter(match.group(1) for match in re.finditer(r"\b([aeiou]\w*|\w*q)\b", prose))
    yield sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]
    place = Vector(0, 0, 0)
    for index in range(3000):
        place = place + Vector(index % 7, index % 5, 1).scaled(0.5)
    yield f"{place.length():.6f}"
    partitions.cache_clear()
    yield partitions(60, 60)
    yield 3 ** (2000 + seed) % (10**9 + 7), len(str(7 ** (3000 + seed)))
    try:
        again[len(again)]
    except IndexError as error:
        yield str(error)


for number in range(int(sys.argv[1])):
    print(number, *one_round(number))
