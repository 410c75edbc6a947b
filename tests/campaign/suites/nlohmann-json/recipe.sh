# shellcheck shell=bash disable=SC2034
# JSON for Modern C++: templates, and exceptions on every path that a document can take. The tests that
# need no documents from elsewhere, of those that throw most (each takes a compiler half a minute).

debian_source=nlohmann-json3
programs=({allocator,capacity,class_lexer,class_parser,deserialization,diagnostics,element_access1}_cpp11
    {element_access2,json_pointer,modifiers,pointer_access,reference_access,udt,user_defined_input}_cpp11)

suite_build() {
    cmake -S . -B build -DCMAKE_BUILD_TYPE=None -DJSON_TestStandards=11 -DJSON_TestDataDirectory=.
    make -C build -j"$JOBS" "${programs[@]/#/test-}"
}

suite_run() {
    local program
    for program in "${programs[@]}"; do
        "build/tests/test-$program" --no-skip --reporters=xml || say "exit code $?"
    done
}

# A <TestCase> each, with its verdict at its end.
suite_results() {
    awk '/<TestCase / { split($0, quoted, "\""); name = quoted[2]; gsub(/ /, "-", name) }
        /test_case_success=/ { print name, /test_case_success="true"/ ? "passed" : "failed" }' "$1"
}
