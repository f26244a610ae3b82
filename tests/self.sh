# SPDX-License-Identifier: GPL-3.0-or-later
# For the tests that run Ordeal on itself: sourced by tests/e2e/self-*.test.
# torment FUNCTION=VALUE[/ERRNO] LIMIT: makes calls of the function by an inner ordeal fail, one
# trial for each call: all of them if there are at most LIMIT, else the first half of LIMIT and the
# rest spread evenly. However it goes, the inner ordeal must end by itself, with a status of its own
# choosing, and not without a word. At least one fault must have been injected.
# torment_if_called: likewise, but the inner ordeal may have no use for the function. $injected says how
# many faults there were.
# torment_exactly: as torment, and where the inner ordeal claims success it prints what it prints without
# a fault (but for times).
torment_exactly() {
    "${inner[@]}" | without_times >exactly
    torment "$@"
    rm exactly
}
without_times() {
    sed 's/, [0-9.]* m\?s$//'
}
torment() {
    torment_if_called "$@"
    [ "$injected" -gt 0 ] || fail "$1: nothing was tried, the inner ordeal never calls it: ${inner[*]}"
}
torment_if_called() {
    local rule=$1 limit=$2 n=0 reached step
    injected=0
    # shellcheck disable=SC2154 # inner is the test's
    trial --timeout 20 --inject "$rule when process(\"ordeal\") and count == 999999" -- "${inner[@]}"
    expect '.outcome.kind == "exit"'
    reached=$(jq '.rules[0].reached' report)
    step=$((reached > limit ? (reached - limit / 2) * 2 / limit + 1 : 1))
    while :; do
        n=$((n < limit / 2 ? n + 1 : n + step))
        [ "$n" -le "$reached" ] || break
        trial --timeout 20 --inject "$rule when process(\"ordeal\") and count == $n" -- "${inner[@]}"
        [ "$(jq -r .outcome.kind report)" = exit ] || fail "$rule, call $n: $(jq -c .outcome report)"
        case $status in
        0 | 1 | 2) ;;
        *) fail "$rule, call $n: status $status" ;;
        esac
        if [ "$status" = 2 ] && ! grep -q . err; then
            fail "$rule, call $n: failed without a word"
        fi
        if [ "$status" = 0 ] && [ -e exactly ] && ! without_times <out | cmp -s - exactly; then
            fail "$rule, call $n: status 0, but: $(without_times <out | diff exactly - | head -n 10)"
        fi
        injected=$((injected + $(jq '.rules[0].fired' report)))
    done
}
