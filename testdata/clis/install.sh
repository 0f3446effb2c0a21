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
	$version </dev/null 2>&1 | grep -qF -- "$(field "$1" contains)"
}

# wanted SOURCE prints what is missing and comes from this source.
wanted() {
	for file in "$corpus"/*.json; do
		package=$(field "$file" "$1")
		[ -z "$package" ] || ready "$file" || echo "$package"
	done | sort -u
}

# each SOURCE COMMAND... runs a command for every package that is missing.
each() {
	source=$1
	shift
	wanted "$source" | while read -r package; do
		"$@" "$package" >>"$log" 2>&1 </dev/null
	done
}

has() { command -v "$1" >/dev/null 2>&1; }

if has apt-get && [ "$(id -u)" = 0 ] && [ -n "$(wanted apt)" ]; then
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq >>"$log" 2>&1
	each apt apt-get install -y -qq --no-install-recommends # one by one: a release may lack some
fi

if has python3 && [ -n "$(wanted pip)" ]; then
	[ -x "$cache/pip/bin/pip" ] || python3 -m venv "$cache/pip" >>"$log" 2>&1
	each pip "$cache/pip/bin/pip" install -q --disable-pip-version-check
fi

if has npm && [ -n "$(wanted npm)" ]; then
	npm_install="npm install --prefix $cache/npm --save-exact --omit=dev --no-package-lock --ignore-scripts --no-audit --no-fund --silent"
	case $(wanted npm) in *webpack-cli*) $npm_install webpack >>"$log" 2>&1 ;; esac # its commands come from there
	each npm $npm_install
fi

if has go && [ -n "$(wanted go)" ]; then
	GOBIN=$cache/go/bin
	export GOBIN
	each go go install
fi

for file in "$corpus"/*.json; do
	ready "$file" || echo "$(basename "$file" .json): not there in version $(field "$file" contains)"
done
exit 0
