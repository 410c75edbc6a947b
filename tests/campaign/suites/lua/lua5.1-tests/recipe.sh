# shellcheck shell=bash disable=SC2034
# The official tests of Lua 5.1 as another implementation of the language ships them: the package
# of Lua itself has none.

debian_source=golang-github-yuin-gopher-lua
