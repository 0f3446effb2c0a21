#!/bin/sh
# Runs every fuzz target there is for the given time each: one package after the
# other on each processor. What a package's targets share is built once, and what
# they find stays where go test would put it. With "blind" behind the time they
# are not guided by what the code covers, which spares compiling all of it anew.
# Go before 1.27 now and then takes the end of the time for a failure
# (go.dev/issue/75804). It names no input then, as it does for every other one.
set -eu
cd "$(dirname "$0")/.."
FUZZTIME=${1:-10s}
guide=-fuzz=.
if [ "${2:-}" = blind ]; then guide=; fi
corpus=$(go env GOCACHE)/fuzz
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
export FUZZTIME guide corpus built

go list -f '{{.ImportPath}} {{.Dir}}' ./... ./sdk/... | while read -r package dir; do
	if grep -qs '^func Fuzz' "$dir"/*_test.go; then echo "$package $dir"; fi
done | xargs -n 2 -P "$(getconf _NPROCESSORS_ONLN)" sh -c '
	program=$(mktemp "$built/XXXXXX")
	go test -c $guide -o "$program" "$0" || exit 1
	cd "$1"
	for target in $(grep -hos "^func Fuzz[A-Za-z0-9_]*" *_test.go | sed "s/func //"); do
		out=$("$program" -test.run "^$" -test.fuzz "^$target\$" -test.fuzztime "$FUZZTIME" -test.fuzzminimizetime 10x -test.parallel 1 \
			-test.fuzzcachedir "$corpus/$0" 2>&1) || status=$?
		case ${status:+$out} in
		*"Failing input written"* | *"--- FAIL: $target/"*) ;;
		*"
    context deadline exceeded
"*) status= ;;
		esac
		echo "$target in $0"
		[ -z "${status:-}" ] || { echo "$out"; exit 1; }
		echo "$out" | tail -n 2
	done
'
