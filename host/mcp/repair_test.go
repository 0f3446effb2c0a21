package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/mcp"
)

func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth-1) + `{}` + strings.Repeat(`}`, depth-1)
}

func TestRepair(t *testing.T) {
	list := func(items ...string) string {
		return `{"id":1,"jsonrpc":"2.0","result":{"tools":[` + strings.Join(items, ",") + `]}}`
	}
	for text, want := range map[string][]string{
		// deviation: two or more messages on one line | reads each of them | eko#276
		`{"id":1,"result":{}}{"method":"x"}`:   {`{"id":1,"result":{}}`, `{"method":"x"}`},
		`{"id":1} {"id":2} {"id":3} log line}`: {`{"id":1}`, `{"id":2}`, `{"id":3}`},
		// deviation: a name twice in one object | takes the last value, as most parsers do | mcp-context-forge#1875
		`{"id":1,"result":{"a":1,"\u0061":[1e300,"<é>"]}}`: {`{"id":1,"result":{"a":[1e300,"<é>"]}}`},
		// deviation: numbers beyond a 64-bit float | makes them the largest float of their sign | -
		`{"a":[1e999,{"b":-1E+309}],"c":1e-999}`: {
			`{"a":[1.7976931348623157e+308,{"b":-1.7976931348623157e+308}],"c":1e-999}`,
		},
		`{"a":9` + strings.Repeat("0", 5000) + `}`:               {`{"a":1.7976931348623157e+308}`},
		`{"a":-1e99999999999999999999,"a":12345678901234567890}`: {`{"a":12345678901234567890}`},
		// deviation: a tool whose schema nests deeper than 64 levels | leaves out this tool | mcp-context-forge#1875
		list(`{"name":"x"}`, `{"name":"deep","s":`+nested(80)+`}`): {list(`{"name":"x"}`),
			`lost tools[1] "deep": nests deeper than 64 levels`},
		list(`{"name":"x","s":` + nested(60) + `}`): {list(`{"name":"x","s":` + nested(60) + `}`)},
		list(`{"name":"x","s":` + nested(61) + `}`): {list(), `lost tools[0] "x": nests deeper than 64 levels`},
		list(nested(9000)):                          {list(), `lost tools[0] "<nil>": nests deeper than 64 levels`},
		// Lines that Repair cannot read.
		``:                         nil,
		`{"id":1`:                  nil,
		`{"id":NaN}`:               nil,
		`[{"id":1}]`:               nil,
		`null`:                     nil,
		`{}` + list(nested(20000)): {`{}`},
		`{"a":"` + strings.Repeat("x", 2<<20) + `"}{}`: nil,
	} {
		messages, lost := mcp.Repair([]byte(text))
		var got []string
		for _, m := range messages {
			got = append(got, string(m))
		}
		for _, item := range lost {
			got = append(got, "lost "+item)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%.200q\nbecame %.300q\nwant   %.300q", text, got, want)
		}
	}
	if got, _ := mcp.Repair([]byte("\ufeff" + strings.Repeat("{}", 1000))); len(got) != 64 {
		t.Errorf("%d messages of a line", len(got))
	}
	large := `{"a":"` + strings.Repeat("x", 2<<20)
	if got, _ := mcp.Repair([]byte(large + "\x01\"}")); len(got) != 1 || string(got[0]) != large+`\u0001"}` {
		t.Errorf("%.100q of a large line", got)
	}
}

// TestLoneSurrogates checks that no message has an escape that strict parsers refuse.
func TestLoneSurrogates(t *testing.T) {
	for text, want := range map[string]string{
		// deviation: half of an emoji, as Node prints text that was cut | becomes U+FFFD | playwright-mcp#1410
		`\ud83d`:             `\ufffd`,
		`a\uD83Db\uDE00`:     `a\ufffdb\ufffd`,
		`\ud83d\ud83d\ude00`: `\ufffd\ud83d\ude00`,
		`\ude00\ud83d`:       `\ufffd\ufffd`,
		`\ud83d\n`:           `\ufffd\n`,
		`\ud83d\u0041`:       `\ufffd\u0041`,
		`\\ud83d`:            `\\ud83d`,
		`\\\ud83d`:           `\\\ufffd`,
		`\ud83d\ude00`:       `\ud83d\ude00`,
		`\ud7ff\ue000`:       `\ud7ff\ue000`,
	} {
		m, err := mcp.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{%q:1,"t":["%s"]}}`, "k", text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := string(m.Result); got != `{"k":1,"t":["`+want+`"]}` {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}
