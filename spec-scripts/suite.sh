#!/usr/bin/env bash
# The open suite: real programs of the kinds that SPEC CPU has, to fetch, build, check and measure.
#
#   spec-scripts/suite.sh list
#   spec-scripts/suite.sh fetch|build|check|measure [PROGRAM...] [--cc CC] [--flags=FLAGS] ...
#
# spec-scripts/open-suite/suite.toml describes the programs, its README.md the commands; --help has
# all options. SUITE=others takes those of others.toml, on which nothing in szc was tuned.
# SZC: the szc to use (default: that of this tree's release build). SZC_CACHE: where sources and
# builds are kept (default: .cache of the project).
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

suite "$@"
