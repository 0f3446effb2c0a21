package source

import (
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// TestResultsOfTheConsoleCountAsMessages: a result takes memory for its page until that is written,
// and is refused as any answer if there is none.
func TestResultsOfTheConsoleCountAsMessages(t *testing.T) {
	const size = 100 << 10
	whole := `{"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", size) + `"}]}}`
	owner := limit.Owner{Tenant: "default", Key: "alice"}
	for name, c := range map[string]struct {
		most, used int64 // of the memory, beside the answer
		share      int64 // of one principal
		response   string
		held       bool
		code       fault.Code
		says       string
	}{
		"it fits":                {most: 8 * size, response: whole, held: true},
		"it fits into the share": {most: 80 * size, share: 8 * size, response: whole, held: true},
		"a small one":            {most: 1, response: `{"result":{"content":[]}}`},
		"no memory": {
			most:     8 * size,
			used:     5 * size,
			response: whole,
			code:     fault.GatewayOverloaded,
			says:     "the answer was dropped",
		},
		"no share": {
			most:     80 * size,
			share:    2 * size,
			response: whole,
			code:     fault.GatewayOverloaded,
			says:     "the answer was dropped",
		},
		"an error": {
			most:     8 * size,
			response: `{"error":{"code":-1,"message":"` + strings.Repeat("x", size) + `"}}`,
			code:     fault.UpstreamError,
		},
		"a question": {
			most:     8 * size,
			response: `{"result":{"resultType":"input_required","x":"` + strings.Repeat("x", size) + `"}}`,
			code:     fault.CallInput,
		},
	} {
		t.Run(name, func(t *testing.T) {
			memory := limit.NewMemory(c.most)
			memory.SetShares(limit.Shares{Principal: c.share})
			if c.used > 0 && !memory.Reserve(int(c.used)) {
				t.Fatal("the test has no memory")
			}
			var answer *limit.Hold
			if c.code != fault.GatewayOverloaded {
				answer, _ = memory.Hold(min(len(c.response), int(c.most)))
			}
			r, err := heldResult(memory, owner, "files", &sendqueue.Message{
				Head: []byte(c.response[:3]),
				Body: []byte(c.response[3:]),
				Hold: answer,
			})
			if used := memory.Used() - c.used; (used == int64(
				resultCopies*len(c.response),
			)) != c.held || !c.held && used != 0 {
				t.Errorf("%d bytes are held", used)
			}
			switch {
			case c.code == "" && (err != nil || len(r.JSON) == 0):
				t.Errorf("%v, %d bytes", err, len(r.JSON))
			case c.code != "" && (!fault.Is(err, c.code) || !strings.Contains(err.Error(), c.says) || r.Hold != nil):
				t.Errorf("%.200v", err)
			}
			r.Hold.Release()
			if used := memory.Used(); used != c.used {
				t.Errorf("%d bytes are held in the end", used)
			}
		})
	}
}
