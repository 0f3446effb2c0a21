package jsonrpc

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	for text, want := range map[string]Envelope{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`: {Kind: Request, ID: []byte("1"), Method: "ping"},
		`{"method":"x","params":{"a":[1]},"id":"\u0061"}`: {Kind: Request, ID: []byte(`"\u0061"`), Method: "x",
			Params: []byte(`{"a":[1]}`)},
		`{"jsonrpc":"2.0","method":"n"}`:   {Kind: Notification, Method: "n"},
		`{"id":1,"result":{"method":"x"}}`: {Kind: Response, ID: []byte("1")},
		`{"id":null,"error":{}}`:           {Kind: Response, ID: []byte("null")},
		`{"id":1}`:                         {ID: []byte("1")},
		`{}`:                               {},
		`[]`:                               {},
		`{"method":1,"id":2}`:              {ID: []byte("2")},
		`{"id":1,"method":"x"`:             {Kind: Request, ID: []byte("1"), Method: "x"},
		`{"id":1,"params":{"method":"y","id":2},"method":"tools/x"}`: {Kind: Request, ID: []byte("1"),
			Method: "tools/x", Params: []byte(`{"method":"y","id":2}`)},
	} {
		e := Open([]byte(text))
		if e.Kind != want.Kind || string(e.ID) != string(want.ID) || e.Method != want.Method ||
			string(e.Params) != string(want.Params) {
			t.Errorf("%s: %+v, want %+v", text, e, want)
		}
		kind, method := Glance([]byte(text))
		if kind != want.Kind && want.Kind != Unknown || kind != Response && method != want.Method {
			t.Errorf("%s at a glance: %v %q", text, kind, method)
		}
	}
}

func TestAnswers(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for text, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":7,"result":{}}`:                true,
		`{"jsonrpc":"2.0", "id" : 7 ,"result":{}}`:            true,
		`{"result":"` + long + `","id":7}`:                    true,
		`{"result":"` + long + `","id":7,"x":"` + long + `"}`: true,
		`{"id":8,"result":{}}`:                                false,
		`{"id":"7","result":{}}`:                              false,
		`{"result":{}}`:                                       false,
		`{"jsonrpc":"2.0","id":71,"result":{}}`:               false,
		`{"id":71,"result":{"id":7}}`:                         false,
		`{"result":{"id":7},"id":71}`:                         false,
		`{"result":{},"id":7} `:                               true,
		`{"id":8,"result":{"x":"` + long + `","id":7,"y":"` + long + `"},"z":"` + long + `"}`: false,
	} {
		if got := Answers([]byte(text), []byte("7")); got != want {
			t.Errorf("%.60s: %t", text, got)
		}
	}
}

func TestElements(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: ``, ` [ 1 ,{"a":[2]}, "x"]`: `1|{"a":[2]}|"x"|`, `[1,`: `-`, `{}`: `-`, `[1]x`: `-`, ``: `-`,
	} {
		got := ""
		if !Elements([]byte(text), func(e []byte) { got += string(e) + "|" }) {
			got += "-"
		}
		if got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestRefuse(t *testing.T) {
	for text, want := range map[string]string{
		`{"jsonrpc":"2.0","id":null,"error":{"code":-1}}`: `{"jsonrpc":"2.0","id":"a","error":{"code":-1}}`,
		`{"error":{"code":-1,"data":[{}]}}`:               `{"jsonrpc":"2.0","id":"a","error":{"code":-1,"data":[{}]}}`,
		`{"error":"invalid_token"}`:                       ``,
		`{"result":{}}`:                                   ``,
		`<html>`:                                          ``,
		`{"error":{"code":`:                               ``,
		``:                                                ``,
	} {
		if got := string(Refuse([]byte(text), []byte(`"a"`))); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestMeta(t *testing.T) {
	e := Open([]byte(`{"id":1,"method":"resources/read","params":{"uri":"a\u0062","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","x":1}}}`))
	if e.Subject() != "ab" || e.Version() != "2026-07-28" || e.Meta("x") != "" || e.Meta("y") != "" {
		t.Errorf("%q %q", e.Subject(), e.Version())
	}
	e = Open(
		[]byte(
			`{"id":1,"method":"x","params":{"_meta":{"io.modelcontextprotocol\/protocolVersion":"v","\u0078":"y"}}}`,
		),
	)
	if e.Version() != "v" || e.Meta("x") != "y" {
		t.Errorf("%q %q", e.Version(), e.Meta("x"))
	}
	if e := Open([]byte(`{"id":1,"method":"tools/list","params":[]}`)); e.Subject() != "" || e.Version() != "" {
		t.Errorf("%+v", e)
	}
}

// FuzzOpen checks that any input is left unchanged, and that the results are
// part of it.
func FuzzOpen(f *testing.F) {
	for _, s := range []string{`{"id":1,"method":"a","params":{"name":"x"}}`, `{"result":{},"id":"7"}`,
		`{"a":[{"b":null}],"error":{"code":1}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		before := string(msg)
		e := Open(msg)
		Glance(msg)
		Answers(msg, []byte("1"))
		Refuse(msg, []byte("1"))
		_, _, _ = e.Subject(), e.Version(), e.Cancels()
		if string(msg) != before {
			t.Error("the message was changed")
		}
		if !strings.Contains(before, string(e.ID)) || !strings.Contains(before, string(e.Params)) {
			t.Errorf("%q has neither %q nor %q", msg, e.ID, e.Params)
		}
	})
}

func TestInbox(t *testing.T) {
	in := NewInbox()
	waits := 0
	in.BeforeWait(func() { waits++ })
	go func() {
		in.Put(t.Context(), []byte("a"), []byte("1"))
		in.Report(t.Context(), errors.New("b"))
		in.End(io.ErrClosedPipe)
		in.End(nil)
	}()
	if msg, err := in.Recv(); string(msg) != "a" || err != nil || string(in.Related()) != "1" {
		t.Errorf("%s, %v, %s", msg, err, in.Related())
	}
	if _, err := in.Recv(); err == nil || err.Error() != "b" || in.Related() != nil {
		t.Errorf("%v", err)
	}
	for range 2 {
		if _, err := in.Recv(); err != io.ErrClosedPipe {
			t.Errorf("%v", err)
		}
	}
	if in.Put(t.Context(), nil, nil) {
		t.Error("Put succeeds after the end")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if NewInbox().Put(gone, nil, nil) {
		t.Error("Put succeeds after ctx is done")
	}
}

// TestLentMessages checks that a lent message is released by the next Recv.
func TestLentMessages(t *testing.T) {
	in, released := NewInbox(), 0
	go func() {
		in.PutLent(t.Context(), []byte("a"), func() { released++ })
		in.PutLent(t.Context(), []byte("b"), nil)
		in.End(nil)
	}()
	for i, want := range []string{"a", "b", ""} {
		msg, err := in.Recv()
		if string(msg) != want || (err != nil) != (want == "") {
			t.Errorf("%s, %v", msg, err)
		}
		if released != min(i, 1) {
			t.Errorf("after %d calls of Recv, %d messages were released", i+1, released)
		}
	}
}
