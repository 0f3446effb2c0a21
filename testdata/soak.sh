#!/bin/sh
# The full numbers: what the tests assert generously is asserted here as it was
# set, one package after the other, on a machine that should have nothing else to
# do. A figure counts when one of three runs has it. Then what is found out about
# real programs, which are installed, the benchmarks, and every fuzz target for a
# minute. Arguments name the parts to run; without one, all run in this order.
set -eu
cd "$(dirname "$0")/.."
all="figures format wrapper servers browser interop recall calls systems bench fuzz"

figures() {
	for n in 1 2 3; do
		echo "==> $1, run $n of at most 3"
		if JUNCTOR_SOAK=1 JUNCTOR_KILL_ROUNDS="${JUNCTOR_KILL_ROUNDS:-100}" go test -count=1 -timeout 30m -v -run "$2" "$1" |
			{ grep -E '\(bar |^ *(---|FAIL|ok|panic)|_test\.go:' || true; } | tee "$log" && ! grep -qE '^(FAIL|panic|--- FAIL)' "$log"; then
			return
		fi
	done
	echo "$1 missed a bar three times" >&2
	exit 1
}

install() {
	[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null &&
		RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" </dev/null >/dev/null 2>&1
}

# Figures of one package run alone with its last element, such as "httpserver".
figures_of() {
	case $1 in
	httpserver) figures ./host/httpserver 'BigLine|Garbage|Flood|Lists|Hang|Exit|Kill|Restarts|SlowSockets|RapidReset|Memory|Unread|Trickling|FewDescriptors|Fairness' ;;
	plugin) figures ./host/plugin 'Kill|LeavesNothing|Flood' ;;
	sessionstore) figures ./host/sessionstore 'Kill' ;;
	schema) figures ./host/schema 'Hostile|Largest|Meter' ;;
	help) figures ./plugins/cli/help 'Hostile' ;;
	plugintest) figures ./sdk/plugintest . ;;
	stdio) figures ./sdk/stdio 'CloseKillsStart' ;;
	host) figures ./cmd/host 'TestReload|TestKilledServe' ;;
	*)
		echo "there is no part $1: write one of $all, or httpserver, plugin, sessionstore, schema, help, plugintest, stdio, host" >&2
		exit 2
		;;
	esac
}

part() {
	case $1 in
	figures) for package in httpserver plugin sessionstore schema help plugintest stdio host; do figures_of $package; done ;;
	format)
		echo "==> files of random content, formatted"
		go test -count=1 -run Format ./host/configedit -rapid.checks=5000
		;;
	wrapper)
		echo "==> attacks on wrapped programs"
		JUNCTOR_REQUIRE_INTEROP=1 figures ./plugins/cli 'TestAttacksFailThroughTheWrapper'
		;;
	servers)
		echo "==> servers that start slowly, end again and again, or are installed from cold caches"
		JUNCTOR_REQUIRE_INTEROP=1 figures ./host/interoptest 'TestColdLaunchers|TestInterruptedInstallation|TestManyColdServers|TestServerThatEndsAgainAndAgain|TestDeadServersAmongMany'
		;;
	browser)
		echo "==> a browser, for the console, and Prometheus, for its metrics"
		if install chromium prometheus; then export JUNCTOR_REQUIRE_BROWSER=1 JUNCTOR_REQUIRE_PROMETHEUS=1; fi
		JUNCTOR_SOAK=1 go test -count=1 -timeout 15m -run 'TestPrometheus|TestCookbook' ./cmd/host
		JUNCTOR_SOAK=1 go test -count=1 -timeout 15m -run 'TestConsole' ./host/interoptest
		;;
	interop)
		echo "==> servers, clients and transports in all combinations"
		JUNCTOR_REQUIRE_INTEROP=1 JUNCTOR_SOAK=1 go test -count=1 -timeout 30m -skip 'TestColdLaunchers|TestInterruptedInstallation' ./host/interoptest
		;;
	recall)
		echo "==> what is found out about real programs"
		./testdata/clis/install.sh
		JUNCTOR_REQUIRE_CORPUS=1 go test -count=1 -timeout 30m -v -run 'TestRecall' ./plugins/cli | { grep -vE '^ *(===|--- (PASS|SKIP))' || true; } | tee "$log"
		if grep -qE '^(FAIL|panic)' "$log"; then
			echo "recall is below a bar" >&2
			exit 1
		fi
		;;
	calls)
		echo "==> 100 000 fuzzed calls of wrapped programs, 5 000 of them under strace"
		sed -n 's/^\([a-z0-9][^ ]*\) .*/\1/p' plugins/cli/testdata/programs.txt | while read -r package; do install "$package" || echo "$package cannot be installed here"; done
		JUNCTOR_FUZZ_CALLS=100000 go test -count=1 -timeout 4h -v -run 'TestFuzzedCalls|TestTracedCalls|TestToolsThatReadChangeNothing|TestNoCallLeavesTheDirectory' ./plugins/cli
		;;
	systems)
		echo "==> what CI leaves out: the other systems, and the race detector where programs are started"
		make lint
		go test -race -short -timeout 40m $(go list ./... ./sdk/... | grep -v '/interoptest$')
		;;
	bench)
		echo "==> benchmarks"
		go run ./testdata/bench
		;;
	fuzz)
		echo "==> fuzzing, 60 s a target"
		./testdata/fuzz.sh 60s
		;;
	*) figures_of "$1" ;;
	esac
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
[ $# -gt 0 ] || set -- $all
for one in "$@"; do part "$one"; done
