# Writes a network with `nodes` nodes and nine times as many arcs in DIMACS' format for minimum-cost
# flow: sources and sinks among random arcs, and a dear circle through all nodes, so that a flow
# exists.

function random(n) {
    seed = (seed * 16807) % 2147483647
    return int(seed / 256) % n
}

BEGIN {
    seed = 20130316
    arcs = nodes * 8
    ends = int(sqrt(nodes))
    print "p min", nodes, arcs + nodes
    for (i = 1; i <= ends; i++) {
        print "n", i, 100
        print "n", nodes + 1 - i, -100
    }
    for (i = 1; i <= nodes; i++) print "a", i, i % nodes + 1, 0, 1000000, 5000
    for (i = 0; i < arcs; i++)
        print "a", 1 + random(nodes), 1 + random(nodes), 0, 1 + random(100), 1 + random(1000)
}
