# For the tests that run Ordeal on itself: sourced by tests/e2e/self-*.test.
# torment FUNCTION=VALUE[/ERRNO] LIMIT: makes the first LIMIT calls of the function by an inner
# ordeal fail, one trial for each. However it goes, the inner ordeal must end by itself, with a
# status of its own choosing, and not without a word.
torment() {
    local rule=$1 limit=$2 n reached
    # shellcheck disable=SC2154 # inner is the test's
    trial --timeout 20 --inject "$rule when process(\"ordeal\") and count == 999999" -- "${inner[@]}"
    expect '.outcome.kind == "exit"'
    reached=$(jq '.rules[0].reached' report)
    [ "$reached" -le "$limit" ] || reached=$limit
    for ((n = 1; n <= reached; n++)); do
        trial --timeout 20 --inject "$rule when process(\"ordeal\") and count == $n" -- "${inner[@]}"
        [ "$(jq -r .outcome.kind report)" = exit ] || fail "$rule, call $n: $(jq -c .outcome report)"
        case $status in
        0 | 1 | 2) ;;
        *) fail "$rule, call $n: status $status" ;;
        esac
        if [ "$status" = 2 ] && ! grep -q . err; then
            fail "$rule, call $n: failed without a word"
        fi
    done
}
