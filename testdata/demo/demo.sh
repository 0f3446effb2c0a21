#!/bin/sh
# Demonstrates junctor with the demo server of the repository. Run "make demo".
set -eu
cd "$(dirname "$0")/../.."
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export JUNCTOR_HOME="$home" JUNCTOR_CONFIG=examples/demo.hcl

show() {
	printf '\n$ junctor %s\n' "$*"
	bin/junctor --text "$@" # also in a pipe
}

show tools
show call demo__add a=2 b=40
show call demo__greet name=Ada language=eo
show read demo://about
printf '\nAn argument that does not fit never reaches the server:\n'
if show call demo__add a=two b=40; then
	echo "this should have been refused" >&2
	exit 1
fi
printf '\nThe same, as one MCP server on standard input and output:\n'
printf '\n$ junctor serve\n'
printf '%s\n' \
	'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"demo","version":"1"}}}' \
	'{"jsonrpc":"2.0","method":"notifications/initialized"}' \
	'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"demo__add","arguments":{"a":20,"b":22}}}' |
	bin/junctor serve --log error
