package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

var manySeries = []series{
	{"configured servers, none connected", 1, [4]int{10, 50, 150, 500}, configured},
	{"connected servers of 50", 1, [4]int{5, 10, 25, 50}, connected},
	{"tools of one server", manyLeast, [4]int{100, 1000, 3000, 10000}, toolsOf},
	{"idle sessions", 1, [4]int{50, 500, 1500, 5000}, idleSessions},
	{"clients that call at a time", 1, [4]int{10, 100, 300, 1000}, clients},
	{"suspended calls", 0, [4]int{10, 25, 50, 100}, suspended},
	{"list changes a second, one client listens", 0, [4]int{10, 50, 100, 200}, changes},
}

// filled makes sure that the catalog of a configuration is on disk.
func (b *bench) filled(config string, tools int) error {
	if b.complete[config] {
		return nil
	}
	b.complete[config] = true
	return b.fill(config, "many", tools)
}

// configured measures servers that are not used.
func configured(b *bench, n int) ([]cost, error) {
	name := fmt.Sprintf("configured-%d", n)
	r, err := b.runningWith(name, b.stdioServers(n, "echo"), n*toolsEach)
	if err != nil {
		return nil, err
	}
	names, err := r.list()
	start := cost{"start to the end of `tools/list`", time.Since(r.at).Seconds() * 1000, "ms"}
	used := cost{"CPU until then", treeCPU(r.pid).Seconds() * 1000, "ms"}
	defer r.stop()
	if err != nil || len(names) != n*toolsEach {
		return nil, fmt.Errorf("%d tools: %w", len(names), err)
	}
	memory := r.memory()
	call, err := r.smallCalls("s0__echo")
	return []cost{start, used, memory, call}, err
}

// connected measures servers that are used.
func connected(b *bench, n int) ([]cost, error) {
	const all = 50
	r, err := b.runningWith("configured-50", b.stdioServers(all, "echo"), all*toolsEach)
	if err != nil {
		return nil, err
	}
	defer r.stop()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("s%d__echo", i)
	}
	connect, err := r.used("CPU to connect them", func() error {
		for _, name := range names {
			if err := r.once(r.echo(name, 200)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	memory := r.memory()
	call, err := r.smallCalls(names...)
	return []cost{connect, memory, call}, err
}

// toolsOf measures the tools of one server.
func toolsOf(b *bench, n int) ([]cost, error) {
	r, err := b.runningWith(fmt.Sprintf("tools-%d", n), b.stdioServer("s0", "", "echo", strconv.Itoa(n)), n)
	if err != nil {
		return nil, err
	}
	defer r.stop()
	if err := r.once(r.echo("s0__echo", 200)); err != nil { // connects the server
		return nil, err
	}
	const lists = 10
	listing, err := r.used("CPU of 10 complete `tools/list`", func() error {
		for range lists {
			if names, err := r.list(); err != nil || len(names) != n {
				return fmt.Errorf("%d tools: %w", len(names), err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	memory := r.memory()
	call, err := r.smallCalls("s0__echo")
	return []cost{listing, memory, call}, err
}

// oneServer returns a gateway with one connected server.
func (b *bench) oneServer() (*running, error) {
	r, err := b.runningWith("one", b.stdioServers(1, "echo"), toolsEach)
	if err != nil {
		return nil, err
	}
	if err := r.once(r.echo("s0__echo", 200)); err != nil {
		r.stop()
		return nil, err
	}
	return r, nil
}

// idleSessions measures sessions without requests or streams.
func idleSessions(b *bench, n int) ([]cost, error) {
	r, err := b.oneServer()
	if err != nil {
		return nil, err
	}
	defer r.stop()
	opening, err := r.used("CPU to open them", func() error {
		l, err := r.lane()
		if err != nil {
			return err
		}
		defer l.close()
		for range n {
			if err := r.another().openOn(l); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	memory := r.memory()
	call, err := r.smallCalls("s0__echo")
	return []cost{opening, memory, call}, err
}

// clients measures clients with a session and a connection each, which all have
// a call in flight.
func clients(b *bench, n int) ([]cost, error) {
	r, err := b.oneServer()
	if err != nil {
		return nil, err
	}
	defer r.stop()
	lanes := make([]func() (time.Duration, error), n)
	for i := range lanes {
		e := r.another()
		l, err := e.lane()
		if err != nil {
			return nil, err
		}
		defer l.close()
		if err := e.openOn(l); err != nil {
			return nil, err
		}
		small := e.echo("s0__echo", 200)
		lanes[i] = func() (time.Duration, error) { return l.do(small) }
		if _, err := lanes[i](); err != nil {
			return nil, err
		}
	}
	memory := r.memory()
	s, err := drive(r.pid, manyPhase, lanes)
	if err != nil {
		return nil, err
	}
	return []cost{memory, {"CPU of a small call", float64(s.cpu) / float64(time.Microsecond), "µs"},
		{"time of a small call over the number of clients", s.median.Seconds() * 1e6 / float64(n), "µs"}}, nil
}

// suspended measures calls that wait for their client's answer. Each has a
// server process of its own.
func suspended(b *bench, n int) ([]cost, error) {
	servers := b.stdioServer("s0", "", "echo") + b.stdioServer("s1", "  share = \"session\"\n",
		"echo", strconv.Itoa(manyLeast))
	r, err := b.runningWith("suspended", servers, toolsEach+manyLeast)
	if err != nil {
		return nil, err
	}
	defer r.stop()
	if err := r.once(r.echo("s0__echo", 200)); err != nil {
		return nil, err
	}
	e := r.stateless()
	l, err := e.lane()
	if err != nil {
		return nil, err
	}
	defer l.close()
	states := make([]string, n)
	asking, err := r.used("CPU to suspend them", func() error {
		for i := range states {
			if states[i], err = e.suspend(l); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	memory := r.memory()
	call, err := r.smallCalls("s0__echo")
	if err != nil {
		return nil, err
	}
	answering, err := r.used("CPU to answer them and end their servers", func() error {
		for _, state := range states {
			if err := e.resume(l, state); err != nil {
				return err
			}
		}
		time.Sleep(manyIdle) // until their servers have ended
		return nil
	})
	return []cost{asking, answering, memory, call}, err
}

// suspend makes a call that asks the user, and returns its state.
func (e *endpoint) suspend(l *lane) (state string, err error) {
	if _, err := l.do(e.call("s1__ask", "{}")); err != nil {
		return "", err
	}
	var m struct {
		Result struct {
			State string `json:"requestState"`
		} `json:"result"`
	}
	if err := json.Unmarshal(l.answer, &m); err != nil {
		return "", err
	}
	if m.Result.State == "" {
		return "", fmt.Errorf("the call was not suspended: %.300s", l.answer)
	}
	return m.Result.State, nil
}

// resume answers the question of a suspended call.
func (e *endpoint) resume(l *lane, state string) error {
	_, err := l.do(e.request("tools/call", "s1__ask", fmt.Sprintf(
		`"name":"s1__ask","arguments":{},"requestState":%q,"inputResponses":{"q1":{"action":"accept","content":{"word":"yes"}}}`,
		state)))
	if err == nil && !bytes.Contains(l.answer, []byte(`"content":[`)) {
		err = fmt.Errorf("the call did not end: %.300s", l.answer)
	}
	return err
}

// changes measures a server that changes its list of tools while a client
// listens.
func changes(b *bench, n int) ([]cost, error) {
	const tools, long = 100, 3 * time.Second
	r, err := b.runningWith("changes", b.stdioServer("s0", "", "echo", strconv.Itoa(tools)), tools)
	if err != nil {
		return nil, err
	}
	defer r.stop()
	if err := r.once(r.echo("s0__echo", 200)); err != nil {
		return nil, err
	}
	stop, err := r.listen()
	if err != nil {
		return nil, err
	}
	defer stop()
	time.Sleep(manyIdle)
	change := r.call("s0__change", fmt.Sprintf(`{"rate":%d,"ms":%d}`, n, long.Milliseconds()))
	used, err := r.used("CPU of a second", func() error { return r.once(change) })
	if err != nil {
		return nil, err
	}
	used.value /= long.Seconds()
	return []cost{used, r.memory()}, nil
}

// listen opens the stream of a session and reads it until stop is called.
func (e *endpoint) listen() (stop func(), err error) {
	l, err := e.lane()
	if err != nil {
		return nil, err
	}
	head := e.request("notifications/none", "", "").head
	head = slices.Concat([]byte("GET"), head[len("POST"):], []byte("\r\n"))
	if _, err := l.conn.Write(head); err != nil {
		l.close()
		return nil, err
	}
	res, err := http.ReadResponse(l.in, nil)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET was answered with %s", res.Status)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(io.Discard, res.Body) })
	return func() { l.close(); reading.Wait() }, nil
}
