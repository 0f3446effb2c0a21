#!/bin/sh
# The full numbers: what the tests assert generously is asserted here as it was
# set, one package after the other, on a machine that should have nothing else to
# do. A figure counts when one of three runs has it. Then what is found out about
# real programs, which are installed, the benchmarks, and every fuzz target for a
# minute.
set -eu
cd "$(dirname "$0")/.."

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

log=$(mktemp)
trap 'rm -f "$log"' EXIT

figures ./host/httpserver 'BigLine|Garbage|Flood|Lists|Hang|Exit|Kill|Restarts|SlowSockets|RapidReset|Memory|Unread|Trickling|FewDescriptors|Fairness'
figures ./host/plugin 'Kill|LeavesNothing|Flood'
figures ./host/sessionstore 'Kill'
figures ./host/schema 'Hostile|Largest|Meter'
figures ./plugins/cli/help 'Hostile'
figures ./sdk/plugintest .
figures ./sdk/stdio 'CloseKillsStart'
figures ./cmd/host 'TestReload|TestKilledServe'

echo "==> files of random content, formatted"
go test -count=1 -run Format ./host/configedit -rapid.checks=5000

echo "==> attacks on wrapped programs, and servers that start slowly, end again and again, or are installed from cold caches"
export JUNCTOR_REQUIRE_INTEROP=1
figures ./plugins/cli 'TestAttacksFailThroughTheWrapper'
figures ./host/interoptest 'TestColdLaunchers|TestInterruptedInstallation|TestManyColdServers|TestServerThatEndsAgainAndAgain|TestDeadServersAmongMany'

echo "==> a browser, for the console, and Prometheus, for its metrics"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium prometheus >/dev/null
	export JUNCTOR_REQUIRE_BROWSER=1 JUNCTOR_REQUIRE_PROMETHEUS=1
fi
JUNCTOR_SOAK=1 go test -count=1 -timeout 15m -run 'TestPrometheus|TestCookbook' ./cmd/host

echo "==> servers, clients and transports in all combinations"
JUNCTOR_SOAK=1 go test -count=1 -timeout 30m -skip 'TestColdLaunchers|TestInterruptedInstallation' ./host/interoptest

echo "==> what is found out about real programs"
./testdata/clis/install.sh
JUNCTOR_REQUIRE_CORPUS=1 go test -count=1 -timeout 30m -v -run 'TestRecall' ./plugins/cli | { grep -vE '^ *(===|--- (PASS|SKIP))' || true; } | tee "$log"
if grep -qE '^(FAIL|panic)' "$log"; then
	echo "recall is below a bar" >&2
	exit 1
fi

echo "==> 100 000 fuzzed calls of wrapped programs, 5 000 of them under strace"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	sed -n 's/^\([a-z0-9][^ ]*\) .*/\1/p' plugins/cli/testdata/programs.txt | while read -r package; do
		RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" </dev/null >/dev/null 2>&1 || echo "$package cannot be installed here"
	done
fi
JUNCTOR_FUZZ_CALLS=100000 go test -count=1 -timeout 4h -v -run 'TestFuzzedCalls|TestTracedCalls|TestToolsThatReadChangeNothing|TestNoCallLeavesTheDirectory' ./plugins/cli

echo "==> what CI leaves out: the other systems, and the race detector where programs are started"
make lint
go test -race -short -timeout 40m $(go list ./... | grep -v '/interoptest$')

echo "==> benchmarks"
go run ./testdata/bench

echo "==> fuzzing, 60 s a target"
./testdata/fuzz.sh 60s
