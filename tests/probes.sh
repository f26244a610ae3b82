# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a machine may refuse to tests: containers, users without rights. Each function tries the very
# thing, without Ordeal, and prints why it cannot be had, or nothing.

# without_noise COMMAND…: prints the last line that it says, or its name, if it fails.
without_noise() {
    local said
    said=$("$@" 2>&1 >/dev/null) || echo "${said##*$'\n'}" | sed "s/^\$/$1 fails/"
}
# A private view of the file system and of processes, as root or with a user namespace. /proc is a
# mount point everywhere, also in a chroot, and can be made private, so that nobody else sees this.
overlay_mounted() { # OPTIONS OF UNSHARE…
    # shellcheck disable=SC2016 # it is another shell
    unshare "$@" --mount --propagation unchanged --pid --ipc --fork bash -ec '
        mount --make-private /proc
        mount -t proc none /proc
        mount --make-private /proc
        mount -t tmpfs none /proc
        mkdir /proc/lower /proc/upper /proc/work /proc/root
        mount -t overlay -o "$0lowerdir=/proc/lower,upperdir=/proc/upper,workdir=/proc/work" none /proc/root
        ' "$([ $# = 0 ] || echo userxattr,)"
}
no_overlay() {
    without_noise overlay_mounted | grep -q . || return 0
    without_noise overlay_mounted --user --map-root-user
}
# Mounts of a test's own, for root.
no_mounts() {
    without_noise unshare --mount --propagation private mount -t tmpfs none /proc
}
# Namespaces for an ordinary user; the command that becomes that user.
no_user_namespaces() { # COMMAND…
    without_noise "$@" unshare --user --map-root-user --mount true
}
# Files of other users, and becoming one of them.
no_other_users() {
    local file
    file=$(mktemp)
    {
        without_noise chown 12345:54321 "$file" | sed "s, of '.*',,"
        without_noise setpriv --reuid=65534 --regid=65534 --clear-groups true
    } | sed -n 1p
    rm -f "$file"
}
# gdb that can start a program and stop in it.
no_gdb() {
    if ! command -v gdb >/dev/null; then
        echo "it is not installed"
    elif ! gdb -nx -batch -ex starti /bin/true 2>&1 | grep -q 'Program stopped'; then
        echo "it cannot stop a program"
    fi
}
# gdb that can stop a process which it did not start.
no_gdb_attached() {
    if ! command -v gdb >/dev/null; then
        echo "gdb is not installed"
        return
    fi
    sleep 60 &
    gdb -nx -batch -p $! -ex 'info program' 2>&1 | grep -q 'It stopped\|stopped at' || echo "gdb cannot attach"
    kill $!
}
# QEMU for guests.
no_qemu() {
    command -v qemu-system-x86_64 >/dev/null || echo "qemu-system-x86_64 is not installed"
}
# The tool of `ordeal propagate`.
no_valgrind() {
    if [ ! -e "$ORDEAL_BUILD/src/interface/tool/ordeal_propagate-amd64-linux" ]; then
        echo "its package was not there when Ordeal was built"
    elif [ "$(uname -m)" != x86_64 ]; then
        echo "this is no x86-64 machine"
    fi
}
