#!/usr/bin/env bash
# Do the viewers of others read what szc profile report writes, and find the same in it?
#
#   tests/campaign/profile-consumers.sh
#
#   go tool pprof  the hottest function and its share, from --pprof
#   speedscope     its importers, by the application itself in a document without a screen, from
#                  --folded, --perf-script and --pprof: the format that it recognizes, no error
#   jq             --firefox against what the Firefox profiler's format says of tables: columns of
#                  one length, indices within them
#
# Needs go, node, npm (packages speedscope and jsdom, kept in the cache), jq. Under a minute.
# Exit code 1 if one of them finds something else.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

[[ $# -eq 0 ]] || die "unknown argument '$1'; this script has none"
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"
for tool in go node npm jq; do
    command -v "$tool" >/dev/null || die "no $tool; install it first"
done

out=$CACHE/builds/profile-consumers
mkdir -p "$out"
cd "$out"
[[ -d node_modules/speedscope && -d node_modules/jsdom ]] ||
    npm install --silent --no-audit --no-fund speedscope@1.25.0 jsdom@22.1.0
"$SZC" -O2 -g -fno-omit-frame-pointer "$PROJECT/tests/campaign/programs/fib.c" -o fib
"$SZC" profile record -g -o recorded.jsonl -- ./fib 38 >/dev/null 2>&1
"$SZC" profile report recorded.jsonl --folded stacks.folded --perf-script script.txt \
    --pprof profile.pb --firefox firefox.json
failed=0

# same WHAT FOUND EXPECTED
same() {
    printf '%-28s %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { warn "$1: expected $3" && failed=1; }
}

hottest=$("$SZC" profile report recorded.jsonl --top 1 | awk '/^ *[0-9.]+ % .* to /{
    printf "%s %.1f %%", $(NF - 1), $1 }')
same 'go tool pprof' "$(go tool pprof -top profile.pb 2>/dev/null |
    awk '/flat%/ { getline; printf "%s %.1f %%", $NF, $2 }')" "$hottest"

cat >speedscope.mjs <<'SCRIPT'
// The application in a document without a screen: it imports, and then fails to draw.
import fs from "node:fs";
import { JSDOM, VirtualConsole } from "jsdom";
const folder = "node_modules/speedscope/dist/release/";
const name = fs.readdirSync(folder).find((name) => /^speedscope-.*\.js$/.test(name));
const file = process.argv[2];
const quiet = new VirtualConsole();
let recognized = "not recognized";
quiet.on("log", (text) => {
    if (/^Importing /.test(text)) recognized = text;
});
const { window } = new JSDOM("<!DOCTYPE html><body></body>", {
    runScripts: "outside-only",
    url: "https://localhost/#localProfilePath=none.js",
    virtualConsole: quiet,
    pretendToBeVisual: true,
});
Object.assign(window, { TextDecoder, TextEncoder, Response });
window.matchMedia = () => ({ matches: false, addListener() {}, addEventListener() {} });
window.HTMLCanvasElement.prototype.getContext = () => null;
const done = () => {
    // The title has the profile's name once it was imported and is not empty.
    const imported = window.document.title.endsWith(" - speedscope");
    console.log(imported ? recognized : `not imported (${recognized})`);
    process.exit(0);
};
process.on("uncaughtException", done);
process.on("unhandledRejection", done);
window.eval(fs.readFileSync(folder + name, "utf8"));
setTimeout(() => {
    window.speedscope.loadFileFromBase64(file, fs.readFileSync(file).toString("base64"));
}, 300);
setTimeout(done, 5000);
SCRIPT
same 'speedscope, --folded' "$(node speedscope.mjs stacks.folded)" \
    'Importing as collapsed stack format'
same 'speedscope, --perf-script' "$(node speedscope.mjs script.txt)" \
    'Importing from linux perf script output'
same 'speedscope, --pprof' "$(node speedscope.mjs profile.pb)" \
    'Importing as protobuf encoded pprof file'

# Tables of columns; a prefix is an earlier stack, and each index is one of its table.
same 'Firefox, tables' "$(jq -r '
    def below($count): . == null or (. >= 0 and . < $count);
    [.threads[] | . as $thread | [
        (.samples | .stack | length) == .samples.length,
        (.samples.stack | all(below($thread.stackTable.length))),
        (.stackTable | (.frame | length) == .length and (.prefix | length) == .length),
        (.stackTable.frame | all(below($thread.frameTable.length))),
        (.stackTable.prefix | to_entries | all(.key as $key | .value | below($key))),
        (.frameTable | (.func | length) == .length and (.address | length) == .length),
        (.frameTable.func | all(below($thread.funcTable.length))),
        (.funcTable.name | all(below($thread.stringArray | length)))
    ] | all] | if length > 0 and all then "whole" else "damaged" end' firefox.json)" whole
same 'Firefox, version' "$(jq -r '.meta | .preprocessedProfileVersion >= 24' firefox.json)" true
exit "$failed"
