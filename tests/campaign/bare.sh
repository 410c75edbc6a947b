# shellcheck shell=bash disable=SC2154
# A bare Debian of its own, for campaigns that install something. Sourced behind lib.sh; needs root,
# debootstrap and a network.

SUITE=bookworm

leave_bare_system() {
    umount "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$bare"
}

# make_bare_system FOLDER: sets `root` to it; it goes when the script ends, with the folder.
make_bare_system() {
    local suite archive setting
    [[ $(id -u) -eq 0 ]] || die "a bare system can be set up by root only"
    command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
    bare=$1 root=$1/root
    trap leave_bare_system EXIT
    say "a bare $SUITE"
    debootstrap --variant=minbase "$SUITE" "$root" >"$bare/log" 2>&1 || die "$(tail "$bare/log")"
    for suite in "$SUITE-updates" "$SUITE-security"; do
        archive=debian
        [[ $suite != *-security ]] || archive=debian-security
        echo "deb http://deb.debian.org/$archive $suite main" >>"$root/etc/apt/sources.list"
    done
    cp /etc/resolv.conf "$root/etc/"
    for setting in /etc/apt/apt.conf.d/*proxy*; do
        [[ ! -f $setting ]] || cp "$setting" "$root/etc/apt/apt.conf.d/"
    done
    mount --bind /proc "$root/proc"
}

# in_root COMMAND: in the bare system, by its shell.
in_root() {
    chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -euc "$1"
}
