#!/bin/sh
# Runs every fuzz target there is, one after the other, for the given time each.
set -eu
cd "$(dirname "$0")/.."
time=${1:-10s}
go list -f '{{.Dir}}' ./... | while read -r dir; do
	grep -hos '^func \(Fuzz[A-Za-z0-9_]*\)' "$dir"/*_test.go | sed 's/func //' | while read -r target; do
		echo "$target in ${dir#"$PWD"/}"
		go test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x
	done
done
