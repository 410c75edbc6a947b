# shellcheck shell=bash disable=SC2034
# What pbzip2's threads call.

debian_source=bzip2
