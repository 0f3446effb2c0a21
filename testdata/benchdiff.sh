#!/bin/sh
# Compares the CPU that a call needs with that of an earlier commit, by default
# the one before: `benchdiff.sh [COMMIT]`. Fails above 1.3 times; bin/ must be built.
# Without that commit, as in a shallow clone, nothing is compared.
set -eu
cd "$(dirname "$0")/.."
commit=${1:-HEAD~1}

if ! git rev-parse --quiet --verify "$commit^{commit}" >/dev/null 2>&1; then
	echo "benchdiff: there is no commit $commit here, so nothing was compared"
	exit
fi
if git diff --quiet "$commit" -- cmd host plugins sdk go.mod go.sum go.work; then
	echo "benchdiff: no program differs from $commit, so nothing was compared"
	exit
fi
before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
git archive "$commit" | tar -x -C "$before"
if ! make -s -C "$before" build >"$before/log" 2>&1; then
	cat "$before/log"
	echo "benchdiff: $commit cannot be built, so nothing was compared"
	exit
fi
go run ./testdata/bench -against "$before/bin/junctor"
