# A YAML document of RECORDS records: nested maps, sequences, anchors, quoted and folded text.
function below(bound) {
    state = (state * 16807) % 2147483647
    return state % bound
}
function word(    text, left) {
    text = ""
    for (left = 3 + below(6); left > 0; left--) text = text sprintf("%c", 97 + below(26))
    return text
}
BEGIN {
    state = 815
    print "common: &common {unit: metre, source: survey}"
    print "records:"
    for (i = 1; i <= records; i++) {
        printf "  - id: %d\n    name: \"%s \\\"%s\\\"\"\n", i, word(), word()
        printf "    place: {x: %d.%02d, y: -%d, tags: [%s, %s, '%s']}\n", below(900), below(100),
            below(900), word(), word(), word()
        print "    <<: *common"
        printf "    notes: >\n      %s %s\n      %s\n", word(), word(), word()
        print "    parts:"
        for (j = 1 + below(4); j > 0; j--) printf "      - %s: [%d, %d]\n        %s: ~\n", word() j,
            below(99), below(99), word() j
    }
}
