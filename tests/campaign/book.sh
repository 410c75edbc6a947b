#!/usr/bin/env bash
# Does mdBook build the book, and do the links of what it builds lead somewhere?
#
# The book (szc/docs) is built without a warning, and has a page for each line of its contents. Each
# link in its pages leads to a page, a part of one, a picture or a style that is there. (Addresses
# are not asked; those of the project's own files are looked up by the tidy test.) And links to
# nowhere are found, in a book that has some.
#
#   tests/campaign/book.sh
#
# mdBook is built by cargo, once, in the version below, and kept; MDBOOK names another. Needs a
# network the first time. About 4 minutes then, else a second. Results: test-results/book/
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

VERSION=0.5.4
RESULTS=$PROJECT/test-results/book
BOOK=$PROJECT/szc/docs

[[ $# -eq 0 ]] || die "unknown argument '$1'; usage: book.sh"
mkdir -p "$RESULTS"

MDBOOK=${MDBOOK:-$CACHE/mdbook-$VERSION/bin/mdbook}
if [[ ! -x $MDBOOK ]]; then
    # Without what serves and searches a book.
    cargo install --quiet --locked --no-default-features --root "$CACHE/mdbook-$VERSION" \
        --target-dir "$RESULTS/target" "mdbook@$VERSION" 2>"$RESULTS/install.log" ||
        die "mdBook cannot be built; see $RESULTS/install.log"
fi

# build BOOK NAME: as pages of HTML in the folder NAME of the results.
build() {
    rm -rf "${RESULTS:?}/$2"
    "$MDBOOK" build "$1" --dest-dir "$RESULTS/$2" >"$RESULTS/$2.log" 2>&1 ||
        die "mdBook fails: $(cat "$RESULTS/$2.log")"
    if grep -E 'WARN|ERROR' "$RESULTS/$2.log"; then die "mdBook warns; see $RESULTS/$2.log"; fi
}

links() { perl "$PROJECT/tests/campaign/links.pl" "$@"; }

build "$BOOK" html
pages=0
while read -r page; do
    [[ -s $RESULTS/html/${page%.md}.html ]] || die "mdBook made no page of $page"
    pages=$((pages + 1))
done < <(sed -n 's/^ *- \[.*](\(.*\))$/\1/p' "$BOOK/src/SUMMARY.md")
((pages > 20)) || die "the contents name $pages pages"
links "$RESULTS/html" || die "links lead nowhere"

rm -rf "$RESULTS/broken-book"
cp -r "$BOOK" "$RESULTS/broken-book"
printf '\n[a](lost.md) [b](measuring.md#no-such-part) ![c](lost.svg)\n' \
    >>"$RESULTS/broken-book/src/why.md"
build "$RESULTS/broken-book" broken
found=$(links "$RESULTS/broken" || true)
[[ $(grep -c '^why.html: ' <<<"$found") -eq 3 ]] ||
    die "three links were broken, and these are found: $found"
say "$("$MDBOOK" --version): $pages pages, all links lead somewhere"
