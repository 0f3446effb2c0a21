package credential

import (
	"fmt"
	"slices"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// TestOutputIsRedacted: the last output of a provider's program is passed on with secrets
// redacted.
func TestOutputIsRedacted(t *testing.T) {
	said := &sdk.Error{Code: sdk.Unavailable, Message: "gcloud ended with status 1",
		Output: []string{"token s3cret is bad", "log in first"}}
	concealed := &fault.Error{Code: fault.UpstreamUnavailable, Message: said.Message, Err: said,
		Output: []string{"token *** is bad", "log in first"}}
	for _, c := range []struct {
		err  error
		want []string
	}{
		{said, said.Output},
		{fmt.Errorf("asking: %w", said), said.Output},
		{concealed, concealed.Output},
	} {
		if e := asError(c.err); e.Message != said.Message || !slices.Equal(e.Output, c.want) {
			t.Errorf("%v became %q with %q", c.err, e.Message, e.Output)
		}
	}
}

// TestMessageIsRedacted: messages and hints of a provider are passed on with secrets
// redacted.
func TestMessageIsRedacted(t *testing.T) {
	said := &sdk.Error{Code: sdk.Invalid, Path: "token", Message: "s3cret is bad", Hint: "s3cret is not a token"}
	e := asError(&fault.Error{Code: fault.UpstreamSettings, Message: "token: *** is bad", Hint: "*** is not a token",
		Path: "token", Err: said})
	if e.Code != sdk.Invalid || e.Path != "token" || e.Message != "*** is bad" || e.Hint != "*** is not a token" {
		t.Errorf("%+v", e)
	}
}
