#!/bin/sh
# Runs every fuzz target there is for the given time each: one after the other
# on each processor.
set -eu
cd "$(dirname "$0")/.."
FUZZTIME=${1:-10s}
export FUZZTIME

go list -f '{{.Dir}}' ./... | while read -r dir; do
	grep -hos '^func \(Fuzz[A-Za-z0-9_]*\)' "$dir"/*_test.go | sed "s|func |$dir |"
done | xargs -n 2 -P "$(getconf _NPROCESSORS_ONLN)" sh -c '
	out=$(go test "$0" -run "^$" -fuzz "^$1\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 10x -parallel 1 2>&1) || status=$?
	echo "$1 in ${0#"$PWD"/}"
	[ -z "${status:-}" ] || { echo "$out"; exit 1; }
	echo "$out" | tail -n 3
'
