# Writes a random formula of `variables` variables in clauses of three, at the ratio where such
# formulas are hardest (Mitchell, Selman and Levesque 1992). All arithmetic stays below 2^53.

function random(n) {
    seed = (seed * 16807) % 2147483647
    return int(seed / 65536) % n
}

BEGIN {
    seed = 20130316
    clauses = int(variables * 4.26)
    print "p cnf", variables, clauses
    for (i = 0; i < clauses; i++) {
        a = 1 + random(variables)
        do b = 1 + random(variables); while (b == a)
        do c = 1 + random(variables); while (c == a || c == b)
        print (random(2) ? "-" : "") a, (random(2) ? "-" : "") b, (random(2) ? "-" : "") c, 0
    }
}
