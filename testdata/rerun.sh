#!/bin/sh
# go test, except that a test which fails is run once more: `rerun.sh FLAG… PACKAGE…`.
# Tests that passed the second time are added to .cache/flaky, one a line. More
# than four failures are no accident and are not run again.
set -eu
cd "$(dirname "$0")/.."
mkdir -p .cache

flags='' packages=''
for word; do
	case $word in
	*/*) packages="$packages $word" ;;
	*) flags="$flags $word" ;;
	esac
done

report=$(mktemp)
trap 'rm -f "$report"' EXIT
status=0
# shellcheck disable=SC2086 # flags are words
.cache/bin/gotestsum --format=standard-quiet --rerun-fails=1 --rerun-fails-max-failures=4 --rerun-fails-report="$report" \
	--packages="$packages" -- $flags || status=$?
# A line is "PACKAGE.TEST: 2 runs, 1 failures".
sed -n 's/^\(.*\): 2 runs, 1 failures$/\1/p' "$report" >>.cache/flaky
exit $status
