package audit

import (
	"encoding/json"
	"time"
)

// A Row is a row of the log as it is read. The JSON names are those in the file.
type Row struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"` // in hex

	Time      time.Time `json:"time"`
	Kind      Kind      `json:"kind"`
	RequestID string    `json:"request_id,omitempty"`
	TraceID   string    `json:"trace_id,omitempty"`
	Session   string    `json:"session,omitempty"`
	Transport string    `json:"transport,omitempty"`
	Address   string    `json:"address,omitempty"`
	Client    string    `json:"client,omitempty"`
	Tenant    string    `json:"tenant,omitempty"`
	Subject   string    `json:"subject,omitempty"`
	Issuer    string    `json:"issuer,omitempty"`
	Proof     string    `json:"proof,omitempty"`
	Roles     []string  `json:"roles,omitempty"`
	Groups    []string  `json:"groups,omitempty"`

	Server   string `json:"server,omitempty"`
	ItemKind string `json:"item_kind,omitempty"`
	Item     string `json:"item,omitempty"`
	Method   string `json:"method,omitempty"`
	Rounds   int    `json:"rounds,omitempty"`

	ArgumentsDigest string          `json:"arguments_digest,omitempty"`
	ArgumentsSize   int             `json:"arguments_size,omitempty"`
	Arguments       json.RawMessage `json:"arguments,omitempty"`

	Decision     string `json:"decision,omitempty"`
	Rule         string `json:"rule,omitempty"`
	RuleName     string `json:"rule_name,omitempty"`
	Policy       string `json:"policy,omitempty"` // a digest
	Access       string `json:"access,omitempty"`
	AccessSource string `json:"access_source,omitempty"`
	// AccessConfidence is how sure the classification is, from 0 to 1.
	AccessConfidence float64 `json:"access_confidence,omitempty"`
	Hidden           int     `json:"hidden,omitempty"` // items that the policy left out of a list

	Outcome    Outcome `json:"outcome,omitempty"`
	Code       string  `json:"code,omitempty"`
	Message    string  `json:"message,omitempty"`
	DurationMS float64 `json:"duration_ms,omitempty"`
	// RetryAfterMS is how long the client was told to wait.
	RetryAfterMS int             `json:"retry_after_ms,omitempty"`
	ResultSize   int             `json:"result_size,omitempty"`
	Result       json.RawMessage `json:"result,omitempty"`

	Plugin   string `json:"plugin,omitempty"`
	By       string `json:"by,omitempty"`
	Approval string `json:"approval,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Count    int    `json:"count,omitempty"`
}

// keys returns the keys that a row with this content has.
func (r *Row) keys() keys {
	return keys{r.Time.UnixMicro(), string(r.Kind), r.Server, r.Item, r.Tenant, r.Subject, r.Method, string(r.Outcome), r.RequestID}
}
