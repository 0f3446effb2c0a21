package interoptest

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTokenEndsDuringStream has clients with tokens that live a few seconds. A
// client refreshes its token and goes on in the same session. Its stream ends
// with the token, and the client resumes it and gets each event once. A call
// that lasts longer than its token is answered.
func TestTokenEndsDuringStream(t *testing.T) {
	requireLoginClients(t)
	t.Parallel()
	p := newIdentityProvider(t, 2*time.Second)
	e := p.gateway(p.address)
	for _, sdk := range loginClients {
		t.Run(sdk, func(t *testing.T) {
			t.Parallel()
			o := e.connectAs(t, observer)
			c := e.connectLoginClient(t, sdk, "legacy")
			listened := e.listen(t, c.token())
			const longerThanToken = 8000 // milliseconds
			call := c.begin("tools/call",
				object{"name": "go__echo", "arguments": object{"text": "patience", "millis": longerThanToken}})
			sent := c.sendEvents(o, "go://dynamic/"+sdk)

			c.until("the last event", 0,
				func(m message) bool { return m.Method == "updated" && uriOf(t, m) == sent[len(sent)-1] })
			var received []string
			for _, m := range c.all("updated") {
				received = append(received, uriOf(t, m))
			}
			if !slices.Equal(received, sent) {
				t.Errorf("the client got the events %v, want %v", received, sent)
			}
			if got := c.answer(call).text(t); !strings.Contains(got, "patience") {
				t.Errorf("the call was answered with %s", got)
			}
			c.expectOneSession()
			if text := next(t, "the end of a stream", listened); !strings.Contains(text[strings.LastIndex(text,
				"data: "):],
				`"resultType":"complete"`) {
				t.Errorf("subscriptions/listen ended with %q", text)
			}
		})
	}
}

func uriOf(t *testing.T, m message) string {
	t.Helper()
	var params struct{ URI string }
	decode(t, m.Params, &params)
	return params.URI
}

// sendEvents has the other client cause events until the client has refreshed
// its token twice and resumed a stream. It returns the resource of each event.
func (c *loginClient) sendEvents(other *session, prefix string) (uris []string) {
	c.t.Helper()
	const eventsAfter = 5 // events after that
	begun := time.Now()
	// The events are spread over the life of two tokens.
	for after := 0; after < eventsAfter; time.Sleep(150 * time.Millisecond) {
		uri := fmt.Sprintf("%s-%d", prefix, len(uris))
		if m := c.call("resources/subscribe", object{"uri": uri}); m.Error != nil {
			c.t.Fatalf("subscribing after %s: %s: %v", time.Since(begun), m.raw, c.latest())
		}
		other.call("go__touch", object{"uri": uri})
		uris = append(uris, uri)
		refreshes, resumed := c.granted("refresh_token"), c.resumed()
		if refreshes >= 2 && resumed > 0 {
			after++
		}
		if time.Since(begun) > testTimeout*3/2 {
			c.t.Fatalf("%d refreshes and %d resumed streams: %v", refreshes, resumed, c.latest())
		}
	}
	c.t.Logf("%d events, %d refreshes and %d resumed streams in %s",
		len(uris), c.granted("refresh_token"), c.resumed(), time.Since(begun))
	return uris
}

// resumed returns the number of streams that the client has resumed.
func (c *loginClient) resumed() (n int) {
	c.t.Helper()
	for _, r := range c.requests() {
		if r.Method == http.MethodGet && r.LastEvent != "" && r.Status == http.StatusOK {
			n++
		}
	}
	return n
}

// listen opens a stream. The channel gets the whole stream when it has ended.
func (e *endpoint) listen(t *testing.T, token string) <-chan string {
	t.Helper()
	res := e.post(token, "subscriptions/listen", object{"notifications": object{"toolsListChanged": true}})
	ended := make(chan string, 1)
	go func() {
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			text = fmt.Append(text, "\ndata: ", err)
		}
		ended <- string(text)
	}()
	return ended
}
