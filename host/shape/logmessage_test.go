package shape

import "testing"

// TestLogMessage checks what clients get of log messages that MCP does not allow.
func TestLogMessage(t *testing.T) {
	for _, c := range []struct{ params, want string }{
		{`{"level":"debug","logger":"a","data":{"n":1}}`, "="},
		{`{"data":null,"level":"emergency","x":7,"_meta":{}}`, "="},
		{`{ "level" : "info" , "data" : [ 1.0 ] }`, "="},

		{`{"level":"warn","data":"x"}`, `{"level":"warning","data":"x"}`},
		{`{"level":"WARNING","data":"x"}`, `{"level":"warning","data":"x"}`},
		{`{"level":" Error ","data":"x"}`, `{"level":"error","data":"x"}`},
		{`{"level":"err","data":"x"}`, `{"level":"error","data":"x"}`},
		{`{"level":"Fatal","data":"x"}`, `{"level":"critical","data":"x"}`},
		{`{"level":"PANIC","data":"x"}`, `{"level":"emergency","data":"x"}`},
		{`{"level":"trace","data":"x"}`, `{"level":"debug","data":"x"}`},

		{`{"level":"loud","data":"x"}`, `{"level":"info","data":"x"}`},
		{`{"level":"","data":"x"}`, `{"level":"info","data":"x"}`},
		{`{"level":4,"data":"x"}`, `{"level":"info","data":"x"}`},
		{`{"level":null,"data":"x"}`, `{"level":"info","data":"x"}`},
		{`{"level":["error"],"data":"x"}`, `{"level":"info","data":"x"}`},
		{`{"data":"x"}`, `{"data":"x","level":"info"}`},
		{`{"level":"info","logger":7,"data":"x"}`, `{"level":"info","data":"x"}`},
		{`{"level":"info","data":"x","_meta":"m"}`, `{"level":"info","data":"x"}`},
		{`{"level":"info","message":"text","n":1}`, `{"level":"info","message":"text","n":1,"data":"text"}`},
		{`{"level":"info","msg":{"a":1}}`, `{"level":"info","msg":{"a":1},"data":{"a":1}}`},
		{`{"type":3,"line":"a"}`, `{"type":3,"line":"a","data":{"type":3,"line":"a"},"level":"info"}`},

		{`{"level":"info"}`, ""},
		{`{"level":"error","logger":"a"}`, ""},
		{`{"level":"loud"}`, ""},
		{`{"level":"info","_meta":{"a":1}}`, ""},
		{`{"logger":"a"}`, ""},
		{`{}`, ""},
		{``, ""},
	} {
		want := c.want
		if want == "=" {
			want = c.params
		}
		got, ok := LogMessage([]byte(c.params))
		if string(got) != want || ok != (want != "") {
			t.Errorf("%s becomes %s, %t; want %s", c.params, got, ok, want)
		}
	}
}
