# Writes a chain of `residues` residues in the PDB format: helices and loops of random lengths and
# directions, as coordinates of the alpha carbon alone. `seed` tells one chain from another.

function random(n) {
    state = (state * 16807) % 2147483647
    return int(state / 65536) % n
}

BEGIN {
    state = 20130316 + seed * 7919
    x = y = z = 0
    for (i = 1; i <= residues; i++) {
        if (left-- <= 0) {
            left = 6 + random(18)
            helix = random(3) > 0
            ux = random(201) - 100; uy = random(201) - 100; uz = random(201) - 100
            length_u = sqrt(ux * ux + uy * uy + uz * uz) + 1
            ux /= length_u; uy /= length_u; uz /= length_u
        }
        # A helix of 3.6 residues and 5.4 Angstrom a turn about its axis; a loop goes on by 3.8.
        rise = helix ? 1.5 : 3.8
        x += ux * rise; y += uy * rise; z += uz * rise
        turn = helix ? 2.3 : 0
        printf "ATOM  %5d  CA  ALA A%4d    %8.3f%8.3f%8.3f  1.00  0.00           C\n", i, i,
            x / 2 + turn * cos(i * 1.7453), y / 2 + turn * sin(i * 1.7453), z / 2
    }
    print "TER"
}
