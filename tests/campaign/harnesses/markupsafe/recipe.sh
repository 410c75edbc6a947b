# shellcheck shell=bash disable=SC2034
# markupsafe: an extension of Python in C, with benchmarks by pytest-benchmark (test_speed.py). A
# loop is planted where strings with characters beyond the first plane are escaped.
debian_source=markupsafe
command='@/python -m pytest -q -p no:cacheprovider --benchmark-max-time=0.05 @/test_speed.py'
slow_rows='test_escape\[beyond-tags-'
moves='"moving":1'

build() {
    local include folder
    # Debian's, for which Debian has pytest-benchmark.
    /usr/bin/python3 -c 'import pytest_benchmark' ||
        die "pytest-benchmark is missing: apt-get install python3-dev python3-pytest-benchmark"
    include=$(/usr/bin/python3-config --includes)
    # shellcheck disable=SC2086,SC2046  # words on purpose
    "$SZC" -O2 $include "$RECIPES/markupsafe/python.c" -o python \
        $(/usr/bin/python3-config --embed --ldflags)
    folder=src/markupsafe
    # shellcheck disable=SC2086
    "$SZC" -O2 -shared -fPIC $include "$folder/_speedups.c" -o "$folder/_speedups.so"
    cp "$RECIPES/markupsafe/test_speed.py" .
    # Found by pytest before Debian's own.
    printf 'import sys\n\nsys.path.insert(0, "%s")\n' "$PWD/src" >conftest.py
}

slow_down() {
    plant_in src/markupsafe/_speedups.c '	outp = PyUnicode_4BYTE_DATA(out);' \
        '	for (volatile int i = 0; i < 10000; i++);'
}
