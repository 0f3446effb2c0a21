#!/bin/sh
# Installs the programs of this directory that are missing: from apt when root,
# from npm and PyPI below .cache/clis. It never fails; it says what is missing.
set -u
cd "$(dirname "$0")/../.."
corpus=$PWD/testdata/clis
cache=$PWD/.cache/clis
mkdir -p "$cache/npm" "$cache/go"
PATH=$cache/pip/bin:$cache/npm/node_modules/.bin:$cache/go/bin:$PATH
export PATH
log=$cache/install.log
: >"$log"

# field FILE KEY prints the first value of a key of a truth file.
field() { sed -n 's/^ *"'"$2"'": "\(.*\)",\{0,1\}$/\1/p' "$1" | head -n 1; }

# ready FILE reports whether the program is there in the version of the file.
ready() {
	command -v "$(basename "$1" .json)" >/dev/null 2>&1 || return 1
	version=$(sed -n 's/^ *"command": \[\(.*\)\],\{0,1\}$/\1/p' "$1" | head -n 1 | tr -d '",')
	[ -n "$version" ] || return 0
	$version </dev/null 2>&1 | grep -qF "$(field "$1" contains)"
}

# wanted SOURCE prints what is missing and comes from this source.
wanted() {
	for file in "$corpus"/*.json; do
		package=$(field "$file" "$1")
		[ -z "$package" ] || ready "$file" || echo "$package"
	done | sort -u
}

packages=$(wanted apt)
if [ -n "$packages" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq >>"$log" 2>&1
	for package in $packages; do # one by one: a release may lack some
		apt-get install -y -qq --no-install-recommends "$package" >>"$log" 2>&1
	done
fi

packages=$(wanted pip)
if [ -n "$packages" ] && command -v python3 >/dev/null; then
	[ -x "$cache/pip/bin/pip" ] || python3 -m venv "$cache/pip" >>"$log" 2>&1
	for package in $packages; do
		"$cache/pip/bin/pip" install -q --disable-pip-version-check "$package" >>"$log" 2>&1
	done
fi

packages=$(wanted npm)
if [ -n "$packages" ] && command -v npm >/dev/null; then
	for package in $packages; do
		# Together with what is there already: npm removes what it is not told of.
		case $package in webpack-cli@*) set -- "$package" webpack ;; *) set -- "$package" ;; esac
		npm install --prefix "$cache/npm" --save --omit=dev --no-package-lock --ignore-scripts --no-audit --no-fund --silent "$@" >>"$log" 2>&1
	done
fi

packages=$(wanted go)
if [ -n "$packages" ] && command -v go >/dev/null; then
	for package in $packages; do
		GOBIN=$cache/go/bin GOFLAGS=-mod=mod go install "$package" >>"$log" 2>&1
	done
fi

for file in "$corpus"/*.json; do
	ready "$file" || echo "$(basename "$file" .json): not there in version $(field "$file" contains)"
done
exit 0
