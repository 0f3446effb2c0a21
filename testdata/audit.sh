#!/bin/sh
# Compares what is linked with the database of known vulnerabilities. Where the
# database cannot be reached nothing is checked, and the end says so: status 2.
set -eu
cd "$(dirname "$0")/.."
VERSION=v1.9.0
bin=$PWD/.cache/bin
tool=$bin/govulncheck
said=$(mktemp)
trap 'rm -f "$said"' EXIT

if ! "$tool" -version 2>/dev/null | grep -qF "govulncheck@$VERSION"; then
	mkdir -p "$bin"
	if ! GOBIN=$bin go install "golang.org/x/vuln/cmd/govulncheck@$VERSION" 2>"$said"; then
		cat "$said" >&2
		echo "audit: govulncheck $VERSION cannot be installed; nothing was checked" >&2
		exit 2
	fi
fi

status=0
for module in . sdk sdk/mcpconn testdata/thirdparty; do
	found=0
	(cd "$module" && GOWORK=off "$tool" ${GOVULNDB:+-db "$GOVULNDB"} ./...) >"$said" 2>&1 || found=$?
	cat "$said"
	if [ $found -ne 0 ] && grep -q 'fetching vulnerabilities' "$said"; then
		echo "audit: the vulnerability database cannot be reached; nothing was checked" >&2
		echo "audit: run it where there is a network, or name a copy: make audit GOVULNDB=file:///DIRECTORY" >&2
		exit 2
	fi
	[ $found -eq 0 ] || status=1
done
exit $status
