#!/usr/bin/env bash
# Gets the sources of foreign test suites (tests/campaign/suites/) and unpacks them in the cache.
# The programs of the open suite are suite.sh's.
#
#   spec-scripts/fetch.sh NAME...
#
# They come from the source packages of Debian or Ubuntu, in the version that this system's package
# archive offers, or that the recipe names with its hash; apt checks the signatures. So they need
# apt-get. Crates are cargo's to fetch. A program that cannot be had is named, the others are still
# fetched, and the exit code is 1.
#
# SZC_CACHE: where sources are kept (default: .cache of the project).
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

APT=$CACHE/apt

# derive_source_lists: the system's package lists with source packages enabled,
# in a directory of our own, so that neither the system's configuration nor its
# package lists change and no privileges are needed.
derive_source_lists() {
    mkdir -p "$APT/lists/partial" "$APT/cache/archives/partial" "$APT/parts"
    rm -f "$APT"/parts/*
    local list name
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
        /etc/apt/sources.list.d/*.sources; do
        [[ -r $list ]] || continue
        name=$(basename "$list")
        case $name in
        *.sources) sed 's/^Types:.*/Types: deb-src/' "$list" >"$APT/parts/$name" ;;
        *) sed -n 's/^[[:space:]]*deb\([[:space:]]\)/deb-src\1/p' "$list" >"$APT/parts/$name" ;;
        esac
    done
    # The system's hooks after an update are for the system's lists.
    cat >"$APT/apt.conf" <<EOF
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$APT/parts";
Dir::State::lists "$APT/lists";
Dir::Cache "$APT/cache";
Acquire::Languages "none";
Acquire::Retries "1";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
APT::Sandbox::User "";
EOF
}

# refresh_source_lists: once a day is enough. A third-party list without sources
# makes the update fail as a whole, which says nothing about the others.
refresh_source_lists() {
    # Always: it names places, and the cache may have been moved.
    derive_source_lists
    [[ -n $(find "$APT/updated" -mtime -1 2>/dev/null) ]] && return
    apt-get -c "$APT/apt.conf" -qq update >"$APT/update.log" 2>&1 || true
    if compgen -G "$APT/lists/*Sources*" >/dev/null; then
        touch "$APT/updated"
    fi
}

# fetch_from_debian DIRECTORY: leaves one source archive there.
fetch_from_debian() {
    command -v apt-get >/dev/null || return 1
    # Until this program's subshell ends: apt-get gives up where another one uses the lists.
    local lists
    exec {lists}>"$CACHE/apt.lock"
    flock "$lists"
    refresh_source_lists
    [[ -e $APT/updated ]] || return 1
    # The newest first. Its archive may be missing where the security updates are only partly
    # mirrored.
    local version
    for version in $(apt-cache -c "$APT/apt.conf" showsrc "$debian_source" |
        sed -n 's/^Version: //p' | sort -rVu); do
        is_wanted "$version" || continue
        (cd "$1" && apt-get -c "$APT/apt.conf" -qq source --tar-only "$debian_source=$version") \
            >>"$APT/$debian_source.log" 2>&1 && break
    done
    # Only the program itself: some packages add archives of documentation.
    find "$1" -type f ! -name '*.orig.tar.*' -delete
    find "$1" -type f -name '*.asc' -delete
    compgen -G "$1/*.orig.tar.*" >/dev/null && is_pinned "$1"/*.orig.tar.*
}

# is_wanted VERSION: whether this is a package of the version that the recipe names, if it does.
is_wanted() {
    # [EPOCH:]UPSTREAM-REVISION
    local upstream=${1#*:}
    [[ -z $debian_version || ${upstream%-*} == "$debian_version" ]]
}

# is_pinned ARCHIVE: whether it is what the recipe says, if it does.
is_pinned() {
    local found
    [[ -n $debian_sha256 ]] || return 0
    found=$(sha256sum "$1" | cut -d' ' -f1)
    [[ $found == "$debian_sha256" ]] || {
        warn "$program: the archive has the SHA-256 $found and not the recipe's, $debian_sha256"
        return 1
    }
}

# fetch_from_cargo DIRECTORY: leaves the crate's sources there, whose checksum cargo verifies.
fetch_from_cargo() {
    command -v cargo >/dev/null || return 1
    mkdir -p "$1/src"
    touch "$1/src/lib.rs"
    printf '[package]\nname = "fetch"\nedition = "2021"\n[workspace]\n' >"$1/Cargo.toml"
    printf '[dependencies]\n%s = "=%s"\n' "$crate" "$crate_version" >>"$1/Cargo.toml"
    (cd "$1" && cargo vendor --quiet vendor) >"$1/log" 2>&1 || return 1
    find "$1" -mindepth 1 -maxdepth 1 ! -name vendor -exec rm -rf {} +
    mv "$1/vendor/$crate" "$1/$crate"
    rm -rf "$1/vendor"
    # The cache may lie in somebody else's workspace.
    grep -q '^\[workspace' "$1/$crate/Cargo.toml" ||
        printf '\n[workspace]\n' >>"$1/$crate/Cargo.toml"
}

# fetch PROGRAM
fetch() (
    program=$1
    load_recipe "$program"
    [[ -n $debian_source$crate ]] || exit 0
    target=$CACHE/sources/$program
    [[ -s $target/version ]] && exit 0

    mkdir -p "$CACHE/sources"
    work=$(mktemp -d "$CACHE/sources/.$program.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/archive" "$work/new" "$work/new/tree"
    if [[ -n $crate ]]; then
        if ! fetch_from_cargo "$work/archive"; then
            warn "$program: cargo could not fetch $crate $crate_version. Check the network," \
                "and that cargo can use its registry, and run spec-scripts/fetch.sh again."
            exit 1
        fi
        origin="crate $crate"
        version=$crate_version
        rmdir "$work/new/tree"
        mv "$work/archive/$crate" "$work/new/tree"
    elif fetch_from_debian "$work/archive"; then
        origin="Debian source package $debian_source"
        # NAME_VERSION.orig.tar.SUFFIX
        version=$(basename "$work"/archive/*)
        version=${version#*_}
        version=${version%.orig.tar.*}
    else
        warn "$program: no source. Tried the source package '$debian_source'" \
            "${debian_version:-of any version} of this system's package archive, which needs" \
            "apt-get. Check the network and run spec-scripts/fetch.sh again."
        exit 1
    fi
    if [[ -z $crate ]] && ! tar -xf "$work"/archive/* -C "$work/new/tree" --strip-components=1; then
        warn "$program: the archive from $origin does not unpack; is xz-utils installed?"
        exit 1
    fi
    say "$version" >"$work/new/version"
    say "$origin" >"$work/new/origin"
    rm -rf "$target"
    mv "$work/new" "$target" || exit 1
    say "$program $version ($origin)"
)

main() {
    local program missing=0
    [[ $# -gt 0 ]] || die "usage: fetch.sh NAME...; known: $(cd "$RECIPES" && echo */ | tr -d /)"
    for program in "$@"; do
        # A command whose status is tested runs without `set -e`; fetch() tests
        # its own steps.
        fetch "$program" || missing=1
    done
    return "$missing"
}

main "$@"
