"""Computes for some seconds, then forks, and says what a child costs: the median time in
milliseconds of a fork whose child ends at once and of waiting for it, of 40.

    forks.py SECONDS [MODULE]
"""

import json
import os
import sys
import time

if len(sys.argv) > 2:
    __import__(sys.argv[2])

end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    json.loads(json.dumps({"numbers": sorted(range(100), reverse=True)}))

times = []
for _ in range(40):
    begin = time.monotonic()
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    times.append(time.monotonic() - begin)
print("%.3f" % (sorted(times)[len(times) // 2] * 1000))
