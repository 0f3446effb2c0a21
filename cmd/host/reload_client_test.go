//go:build unix

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// reloadPatience bounds every wait of the tests of reloads.
const reloadPatience = 30 * time.Second

// A reloadClient is a client of either era, over HTTP or standard input and output.
// One goroutine at a time calls request.
type reloadClient struct {
	url     string    // over HTTP
	session string    // of a legacy client over HTTP
	legacy  bool      // implied by session
	in      io.Writer // standard input of the server; nil over HTTP
	id      int

	capabilities map[string]any // of a legacy client

	mu      sync.Mutex
	waiting map[string]chan reloadMessage // guarded by mu; requests on standard input, by id
	heard   []reloadMessage               // guarded by mu; messages that answer no call, in their order
	news    chan struct{}                 // guarded by mu; closed and replaced when heard grows
}

// A reloadMessage is a message that a client receives.
type reloadMessage struct {
	ID     json.RawMessage
	Method string
	Params struct {
		URI           string
		N, PID        int
		Progress      int
		ProgressToken any
		Data          any
	}
	Result json.RawMessage
	Error  json.RawMessage

	event string // id of the event
	text  string
}

func (m reloadMessage) String() string { return m.text }

// call calls a tool of the demo server and returns the text of the response.
func (c *reloadClient) call(tool string) (string, error) {
	a := c.id
	m, err := c.request("tools/call", map[string]any{"name": tool, "arguments": map[string]any{"a": a, "b": 1}})
	text := string(m.Result) + string(m.Error)
	if err == nil && !strings.Contains(text, fmt.Sprintf(`"sum":%d`, a+1)) {
		err = fmt.Errorf("%s: %s", tool, text)
	}
	return text, err
}

// process calls a tool of the publisher and returns its process id.
func (c *reloadClient) process(params map[string]any) (pid string, err error) {
	m, err := c.request("tools/call", params)
	var result struct{ Content []struct{ Text string } }
	if err == nil && (json.Unmarshal(m.Result, &result) != nil || len(result.Content) != 1) {
		err = fmt.Errorf("%v: %s%s", params["name"], m.Result, m.Error)
	}
	if err != nil {
		return "", err
	}
	return result.Content[0].Text, nil
}

// request sends a request and returns the response.
func (c *reloadClient) request(method string, params map[string]any) (reloadMessage, error) {
	id, header, body := c.message(method, params)
	ctx, cancel := context.WithTimeout(context.Background(), reloadPatience)
	defer cancel()
	if c.in != nil {
		return c.exchange(ctx, id, body)
	}
	resp, err := c.open(ctx, http.MethodPost, header, body)
	if err != nil {
		return reloadMessage{}, err
	}
	defer resp.Body.Close()
	return c.response(resp.Body, resp.Header.Get("Content-Type"), id)
}

// message makes the next request of the client.
func (c *reloadClient) message(method string, params map[string]any) (id string, header http.Header, body []byte) {
	c.id++
	header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if c.isLegacy() {
		c.sign(header)
	} else {
		header.Set("Mcp-Protocol-Version", "2026-07-28")
		header.Set("Mcp-Method", method)
		if name, ok := params["name"].(string); ok {
			header.Set("Mcp-Name", name)
		}
		meta, _ := params["_meta"].(map[string]any)
		all := map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28",
			"io.modelcontextprotocol/clientCapabilities": map[string]any{}}
		for key, value := range meta {
			all[key] = value
		}
		with := map[string]any{"_meta": all}
		for key, value := range params {
			if key != "_meta" {
				with[key] = value
			}
		}
		params = with
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		panic(err) // texts and numbers
	}
	return fmt.Sprint(c.id), header, body
}

func (c *reloadClient) isLegacy() bool { return c.legacy || c.session != "" }

// sign adds the headers of a legacy session.
func (c *reloadClient) sign(header http.Header) {
	header.Set("Mcp-Protocol-Version", "2025-11-25")
	if c.session != "" {
		header.Set("Mcp-Session-Id", c.session)
	}
}

// open sends an HTTP request and returns the response with its open body.
func (c *reloadClient) open(ctx context.Context, method string, header http.Header,
	body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	if err == nil && resp.StatusCode >= 300 {
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		err = fmt.Errorf("status %d: %s", resp.StatusCode, text)
	}
	return resp, err
}

// response reads the body of an HTTP response until the response with an id.
func (c *reloadClient) response(body io.Reader, kind, id string) (reloadMessage, error) {
	if kind == "application/json" {
		var m reloadMessage
		err := json.NewDecoder(body).Decode(&m)
		return m, err
	}
	var got reloadMessage
	err := readEvents(body, func(m reloadMessage) bool {
		if got = m; string(m.ID) == id {
			return false
		}
		c.hear(m)
		return true
	})
	if err == nil && string(got.ID) != id {
		err = fmt.Errorf("the stream ended without the response to %s", id)
	}
	return got, err
}

// readEvents reads the messages of a stream until use returns false.
func readEvents(body io.Reader, use func(reloadMessage) bool) error {
	lines, event := bufio.NewScanner(body), ""
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			event = id
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || !strings.HasPrefix(data, "{") {
			continue
		}
		m := reloadMessage{event: event, text: data}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			return fmt.Errorf("%w: %s", err, data)
		}
		if !use(m) {
			return nil
		}
	}
	return lines.Err()
}

// exchange sends a request on standard input and waits for the response.
func (c *reloadClient) exchange(ctx context.Context, id string, body []byte) (reloadMessage, error) {
	response := make(chan reloadMessage, 1)
	c.mu.Lock()
	c.waiting[id] = response
	c.mu.Unlock()
	if _, err := c.in.Write(append(body, '\n')); err != nil {
		return reloadMessage{}, err
	}
	select {
	case m := <-response:
		return m, nil
	case <-ctx.Done():
		return reloadMessage{}, fmt.Errorf("request %s: %w", id, ctx.Err())
	}
}

// read reads standard output of the server to its end.
func (c *reloadClient) read(out io.Reader) error {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		m := reloadMessage{text: lines.Text()}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("%w: %s", err, lines.Text())
		}
		if response := c.takeWaiting(m); response != nil {
			response <- m
		} else {
			c.hear(m)
		}
	}
	return nil
}

// takeWaiting removes the request that a message answers; nil: it answers none.
func (c *reloadClient) takeWaiting(m reloadMessage) chan reloadMessage {
	if m.Method != "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	defer delete(c.waiting, string(m.ID))
	return c.waiting[string(m.ID)]
}

func (c *reloadClient) hear(m reloadMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = append(c.heard, m)
	if c.news != nil {
		close(c.news)
	}
	c.news = make(chan struct{})
}

// await waits until enough returns true for the messages that answer no call.
func (c *reloadClient) await(t *testing.T, what string, enough func(heard []reloadMessage) bool) {
	t.Helper()
	deadline := time.After(reloadPatience)
	for {
		c.mu.Lock()
		if c.news == nil {
			c.news = make(chan struct{})
		}
		heard, news := slices.Clone(c.heard), c.news
		c.mu.Unlock()
		if enough(heard) {
			return
		}
		select {
		case <-news:
		case <-deadline:
			t.Fatalf("%s did not arrive; of %d messages the last are %s",
				what, len(heard), heard[max(0, len(heard)-3):])
		}
	}
}

// count returns the number of messages with a method.
func (c *reloadClient) count(method string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.heard {
		if m.Method == method {
			n++
		}
	}
	return n
}

// numbers returns the numbers of the updates of a resource, in their order.
func numbers(heard []reloadMessage, uri string) (all []int) {
	for _, m := range heard {
		if m.Method == "notifications/resources/updated" && m.Params.URI == uri {
			all = append(all, m.Params.N)
		}
	}
	return all
}

// initialize begins a legacy session.
func (c *reloadClient) initialize(t *testing.T) {
	t.Helper()
	capabilities := c.capabilities
	if capabilities == nil {
		capabilities = map[string]any{}
	}
	params := map[string]any{"protocolVersion": "2025-11-25",
		"capabilities": capabilities, "clientInfo": map[string]any{"name": "t", "version": "1"}}
	c.legacy = true
	if c.in != nil {
		if m, err := c.request("initialize", params); err != nil || m.Result == nil {
			t.Fatalf("%v: %s", err, m.Error)
		}
		return
	}
	id, header, body := c.message("initialize", params)
	resp, err := c.open(t.Context(), http.MethodPost, header, body)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := c.response(resp.Body, resp.Header.Get("Content-Type"), id); err != nil {
		t.Fatal(err)
	}
	c.session = resp.Header.Get("Mcp-Session-Id")
}

// listen opens the common stream of a legacy session over HTTP, after an event if
// last is not empty, and returns the body.
func (c *reloadClient) listen(ctx context.Context, last string) (io.ReadCloser, error) {
	header := http.Header{"Accept": {"text/event-stream"}}
	c.sign(header)
	if last != "" {
		header.Set("Last-Event-ID", last)
	}
	resp, err := c.open(ctx, http.MethodGet, header, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// subscribe subscribes to resources and list changes, each era in its way, and
// returns when that is in effect. Messages are heard until the test ends.
func (c *reloadClient) subscribe(t *testing.T, uris ...string) {
	t.Helper()
	if c.isLegacy() {
		for _, uri := range uris {
			if m, err := c.request("resources/subscribe", map[string]any{"uri": uri}); err != nil || m.Error != nil {
				t.Fatalf("%s: %v: %s", uri, err, m.Error)
			}
		}
		if c.in == nil {
			body, err := c.listen(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			c.hearAll(t, body)
		}
		return
	}
	before := c.count("notifications/subscriptions/acknowledged")
	_, header, body := c.message("subscriptions/listen", map[string]any{"notifications": map[string]any{
		"toolsListChanged": true, "resourcesListChanged": true, "resourceSubscriptions": uris,
	}})
	if c.in == nil {
		resp, err := c.open(t.Context(), http.MethodPost, header, body)
		if err != nil {
			t.Fatal(err)
		}
		c.hearAll(t, resp.Body)
	} else if _, err := c.in.Write(append(body, '\n')); err != nil {
		t.Fatal(err)
	}
	c.await(t, "the acknowledgement",
		func([]reloadMessage) bool { return c.count("notifications/subscriptions/acknowledged") > before })
}

// hearAll reads a stream until it or the test ends.
func (c *reloadClient) hearAll(t *testing.T, body io.ReadCloser) {
	var reading sync.WaitGroup
	reading.Go(func() {
		_ = readEvents(body, func(m reloadMessage) bool { c.hear(m); return true }) // the test closes it
	})
	t.Cleanup(func() {
		_ = body.Close()
		reading.Wait()
	})
}

// name describes the client in failures.
func (c *reloadClient) name() string {
	era, over := "modern", "HTTP"
	if c.isLegacy() {
		era = "legacy"
	}
	if c.in != nil {
		over = "stdio"
	}
	return cmp.Or(era+" over "+over, "client")
}
