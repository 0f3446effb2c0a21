package clientimport

import (
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// TestLongTexts: the longest texts take seconds at most, whatever it repeats.
func TestLongTexts(t *testing.T) {
	for _, unit := range []string{
		"key=a ", "key=", "key=$", "api_key='", `"token": "`, `\"token\": \"x\", `, "--token ", "--token=a ", "Bearer ",
		"Bearer aaaaaaaaa ", "://u:p@", "://", "${X}", "${X:-a}", "${X:-sekret12345} ", "k=${X:-aaaaaaaaaaaa}", "${X",
		"${input:", "${input:a}", "$(", "op://", "op://a ", "<",
		"password=x;", "x-", "sk-aaaa ", "a=", "\\", "=", "a.", "authorization: ",
	} {
		text := strings.Repeat(unit, (maxText/4)/len(unit))
		began := time.Now()
		for _, s := range []clientconfig.Server{
			{Name: "a", Command: []string{"x", text}}, {Name: "a", Command: []string{"sh", "-c", text}},
			{Name: "a", Command: []string{"x"}, Env: map[string]string{"A": text}},
			{Name: "a", URL: "https://h.example/" + text}, {Name: "a", URL: "https://h.example/?" + text},
			{Name: "a", URL: "https://" + text},
		} {
			Convert(clientconfig.Content{Servers: []clientconfig.Server{s}}, Environment{})
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%q: %s", unit, took)
		}
	}
	got := Convert(clientconfig.Content{
		Servers: []clientconfig.Server{{Name: "a", Command: []string{"x", strings.Repeat("a", maxText+1)}}},
	}, Environment{})
	if len(got.Servers) > 0 || !strings.Contains(got.Notes[0], "more than 64 KiB") {
		t.Errorf("%q", got.Notes)
	}
}
