# Writes a linear program of `rows` constraints over twice as many variables in CPLEX' LP format:
# dense enough that the simplex method has to work.

function random(n) {
    seed = (seed * 16807) % 2147483647
    return int(seed / 65536) % n
}

BEGIN {
    seed = 20130316
    columns = rows * 2
    print "Maximize\n value:"
    for (j = 1; j <= columns; j++) printf " + %d x%d%s", 1 + random(100), j, j % 8 ? "" : "\n"
    print "\nSubject To"
    for (i = 1; i <= rows; i++) {
        printf " r%d:", i
        for (j = 1; j < columns; j++) if (random(10) == 0) printf " + %d x%d", 1 + random(50), j
        printf " + x%d <= %d\n", columns, 1000 + random(9000)
    }
    print "Bounds"
    for (j = 1; j <= columns; j++) printf " 0 <= x%d <= %d\n", j, 5 + random(100)
    print "End"
}
