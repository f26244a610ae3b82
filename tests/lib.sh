#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What an end-to-end test may use. A test is a file of bash, tests/e2e/NAME.test: it starts in an
# empty directory of its own and fails with the first command that fails.
#
#   victim NAME [FLAGS…]       compile tests/victims/NAME.{c,cc,rs} to ./NAME (or copy NAME.{py,pl,sh})
#   library STEM-REST [FLAGS…] compile tests/victims/STEM-REST.{c,cc} to ./libSTEM.so
#   trigger NAME [SOURCE]      compile a plug-in trigger to ./NAME.so
#   ordeal ARGUMENTS…          run ordeal; sets $status, fills ./out and ./err. Trials of test and campaign
#                              get the best sandbox there is; to run "$ORDEAL" itself, add
#                              "${best_sandbox[@]}" to its options, or name "$best_kind"
#   trial ARGUMENTS…           run `ordeal run --json …`, report in ./report; likewise
#   expect JQ-EXPRESSION       must be true of ./report
#   expect_status N, expect_out TEXT, expect_err TEXT     TEXT is a part of the output, literally
#   expect_lines FILE TEXT     the file holds exactly that
#   expect_verdicts LINES      verdicts of the trials in ./ordeal.db, with counts: "2 crash"
#   expect_reason TEXT         a part of the reason of one of them
#   eventually COMMAND…        waits until it is true, as long as the test may take
#   needs THING [COMMAND…]     skips the test if the machine refuses it: overlay, mounts,
#                              user-namespaces, other-users, gdb, gdb-attached, qemu; tests/probes.sh tries it
#   skip WHY, fail WHY
#
# Lines `# timeout: SECONDS`, `# slow`, `# unsanitized`, `# runtime only` at the top of a test are for
# tests/run.
set -Eeuo pipefail
export LC_ALL=C TERM=dumb
umask 022
unset LD_PRELOAD LD_LIBRARY_PATH LD_BIND_NOW ASAN_OPTIONS DEBUGINFOD_URLS NO_COLOR
ORDEAL=$ORDEAL_BUILD/src/cli/ordeal
victims=$ORDEAL_TESTS/victims
# Where there can be no private view of the file system, a copy of the working directory is used only
# if the user says so.
# shellcheck disable=SC2034 # tests use it
best_sandbox=() best_kind=auto
if [ -n "$ORDEAL_NO_OVERLAY" ]; then
    # shellcheck disable=SC2034
    best_sandbox=(--sandbox copy) best_kind=copy
fi
# shellcheck source=tests/probes.sh
. "$ORDEAL_TESTS/probes.sh"
sanitized=0
if [[ $ORDEAL_BUILD == *sanitize* ]]; then
    sanitized=1
fi

# What a failed test shows: the outputs, and of the report what fits.
show() {
    local file
    for file in out err; do
        if [ -s "$file" ]; then
            echo "--- $file"
            head -c 2000 "$file" | head -n 20
        fi
    done
    if [ -s report ]; then
        echo "--- report"
        jq -c '.outcome, .rules[:12][], .journal, .notes[:5][], (.injections[:8][] | del(.stack))' report |
            cut -c 1-400
    fi
}
# where: the line of the test itself that led here.
where() {
    local i
    for ((i = 1; i < ${#BASH_SOURCE[@]}; i++)); do
        if [[ ${BASH_SOURCE[i]} == *.test ]]; then
            echo "${BASH_SOURCE[i]##*/}:${BASH_LINENO[i - 1]}"
            return
        fi
    done
}
# shellcheck disable=SC2154 # code is set in the trap itself
trap 'code=$?; [ $code = 77 ] || { echo "$(where): \"$BASH_COMMAND\" gave $code"; show; }' ERR
fail() {
    trap - ERR
    echo "$(where): $*"
    show
    exit 1
}
skip() {
    echo "$*"
    trap - ERR
    exit 77
}
needs() {
    local why
    if [ "$1" = overlay ]; then
        why=$ORDEAL_NO_OVERLAY
    else
        why=$("no_${1//-/_}" "${@:2}")
    fi
    [ -z "$why" ] || skip "needs ${1//-/ }: $why"
}

# directive FILE WORD: what a victim asks for in a comment `WORD: …` in its first lines.
directive() {
    sed -n "1,12s,^\(//\|#\) $2: *,,p" "$1"
}

# compile TARGET SOURCE FLAGS…: through a cache, so that variants of a test run share the work.
compile() {
    local target=$1 source=$2 compiler key cached flags
    shift 2
    flags=$(directive "$source" flags)
    case $source in
    *.cc) compiler=${CXX:-g++} ;;
    *.rs) compiler=rustc ;;
    *) compiler=${CC:-gcc} ;;
    esac
    if [ "$compiler" = rustc ]; then
        # shellcheck disable=SC2086 # flags are words
        set -- -g $flags "$@"
    else
        # shellcheck disable=SC2086
        set -- -g -Wall -D_GNU_SOURCE -I"$ORDEAL_TESTS/../include" "$@"
        flags="$flags -Wl,-rpath,\$ORIGIN -L."
    fi
    # Libraries in this directory may be linked: they belong to the key.
    key=$({
        echo "$compiler $target $* $flags"
        cat "$source" "$victims"/*.h "$ORDEAL_TESTS"/../src/wire/*.h # some read the region
        find . -maxdepth 1 -name 'lib*.so*' -type f | sort | xargs -r cat
    } | sha256sum | cut -c1-24)
    cached=$ORDEAL_VICTIMS/$key
    if [ ! -e "$cached" ]; then
        local fresh=$cached.$$
        # shellcheck disable=SC2086
        "$compiler" -o "$fresh" "$source" "$@" $flags
        mv "$fresh" "$cached"
    fi
    cp "$cached" "$target"
}
victim() {
    local name=$1 file
    shift
    for file in "$victims/$name".{c,cc,rs,py,pl,sh}; do
        [ -e "$file" ] || continue
        case $file in
        *.py | *.pl | *.sh) cp "$file" "$name" && chmod +x "$name" ;;
        *) compile "$name" "$file" "$@" ;;
        esac
        return
    done
    fail "there is no victim $name"
}
library() {
    local name=$1 file
    shift
    for file in "$victims/$name".{c,cc}; do
        if [ -e "$file" ]; then
            compile "lib${name%%-*}.so" "$file" -shared -fPIC "$@"
            return
        fi
    done
    fail "there is no library $name"
}
trigger() {
    compile "$1.so" "${2:-$victims/$1.c}" -shared -fPIC
}

eventually() {
    until "$@" >/dev/null 2>&1; do
        sleep 0.05
    done
}

# names_sandbox ARGUMENTS…: whether they say which sandbox is meant, or a campaign file or the store.
names_sandbox() {
    local word
    for word; do
        case $word in
        --) return 1 ;;
        --sandbox* | sandbox.kind=* | --resume) return 0 ;;
        *.yaml) ! grep -qs '^sandbox:' "$word" || return 0 ;;
        esac
    done
    return 1
}
ordeal() {
    local options=()
    if [[ ${1-} == @(test|campaign) ]] && ! names_sandbox "$@"; then
        options=("${best_sandbox[@]}")
    fi
    status=0
    "$ORDEAL" "${@:1:1}" "${options[@]}" "${@:2}" >out 2>err || status=$?
    if [ $sanitized = 1 ] && grep -qE 'AddressSanitizer|LeakSanitizer|runtime error:' err; then
        fail "sanitizer report from: ordeal $*"
    fi
}
trial() {
    rm -f report
    ordeal run --json --report report "$@"
}
expect() {
    local answer
    answer=$(jq -c "$1" report 2>&1) || true
    [ "$answer" = true ] || fail "report: $1: ${answer:0:500}"
}
expect_status() {
    [ "$status" = "$1" ] || fail "status $status, expected $1"
}
expect_in() {
    grep -qF -- "$2" "$1" || fail "\"$2\" is not in $1"
}
expect_out() {
    expect_in out "$1"
}
expect_err() {
    expect_in err "$1"
}
expect_verdicts() {
    local found
    found=$(sqlite3 -separator ' ' ordeal.db "SELECT count(*), verdict FROM trial
        WHERE confirmation = 0 GROUP BY verdict ORDER BY verdict")
    [ "$found" = "$1" ] || fail "verdicts: $found, expected $1: $(sqlite3 ordeal.db \
        'SELECT verdict, reason FROM trial')"
}
expect_reason() {
    sqlite3 ordeal.db 'SELECT reason FROM trial' >reasons
    grep -qF -- "$1" reasons || fail "\"$1\" is not among the reasons: $(cat reasons)"
}
expect_lines() {
    printf '%s\n' "$2" | cmp -s - "$1" ||
        fail "$1 differs: $(printf '%s\n' "$2" | diff - "$1" || true)"
}

# shellcheck source=/dev/null
. "$1"
