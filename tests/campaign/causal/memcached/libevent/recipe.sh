# shellcheck shell=bash disable=SC2034
# The library of memcached's event loops.

debian_source=libevent
debian_version=2.1.12-stable
debian_sha256=92e6de1be9ec176428fd2367677e61ceffc2ee1cb119035037a27d346b0403bb
