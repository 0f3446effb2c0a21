package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Row is a row of the log as it is read.
type Row struct {
	Seq  int64  `json:"seq" about:"event" csv:"1" ocsf:"metadata.sequence" doc:"the number of the row"`
	Hash string `json:"hash" about:"chain" csv:"34" doc:"the SHA-256 of the row before and this one"`
	Event
}

// An Event is what a row records. Its members and those of [Row] are the table of the fields of
// the log. The file, CSV, the pages about rows and docs/audit.md follow from their tags:
//
//	json:"…"   the name. The order of the members is that in the file, so hashes depend on it.
//	mask:"…"   the value may hold a secret. Texts are masked and cut to 512 bytes ("short") or
//	           2 KiB ("long"). "json" is masked before, and left out above 64 KiB.
//	about:"…"  one of sections, the order in which people see fields
//	csv:"…"    the number of the column, which never changes, and what is there instead of nothing
//	ocsf:"…"   the attribute of OCSF; without it, the field is under unmapped
//	doc:"…"    the meaning, for docs/audit.md; words between single quotes are code
//
// Empty members are left out of rows if the json tag has omitempty. The caller of a Recorder
// owns it.
type Event struct {
	Time time.Time `json:"time" about:"event" csv:"2" ocsf:"time" doc:"when the event began"`
	Kind Kind      `json:"kind" about:"event" csv:"3" doc:"the kind of event"`

	RequestID string `json:"request_id,omitempty" mask:"short" about:"client" csv:"14" ocsf:"metadata.correlation_uid" doc:"'X-Request-Id' of at most 128 characters, or a name of Junctor's own"`
	TraceID   string `json:"trace_id,omitempty" mask:"short" about:"client" csv:"15" doc:"the trace of 'traceparent'"`
	Session   string `json:"session,omitempty" about:"client" csv:"13" ocsf:"actor.session.uid" doc:"a digest of the session's id, or a random name"`
	Transport string `json:"transport,omitempty" about:"client" csv:"11" doc:"'http', 'stdio' or 'cli'"`
	Address   string `json:"address,omitempty" about:"client" csv:"12" ocsf:"src_endpoint.ip" doc:"the address of a client over HTTP"`
	Client    string `json:"client,omitempty" mask:"short" about:"client" csv:"10" ocsf:"actor.app_name" doc:"name and version of the client, as it says"`

	Tenant  string   `json:"tenant,omitempty" mask:"short" about:"principal" csv:"6" ocsf:"actor.user.domain" doc:"the tenant of the [principal](identity.md)"`
	Subject string   `json:"subject,omitempty" mask:"short" about:"principal" csv:"7" ocsf:"actor.user.name" doc:"its name"`
	Issuer  string   `json:"issuer,omitempty" mask:"short" about:"principal" csv:"8" ocsf:"actor.session.issuer" doc:"the issuer of its token"`
	Proof   string   `json:"proof,omitempty" about:"principal" csv:"9" doc:"how it authenticated, such as 'jwt' or 'local'"`
	Roles   []string `json:"roles,omitempty" mask:"short" about:"principal" csv:"41" doc:"its roles, at most 64"`
	Groups  []string `json:"groups,omitempty" mask:"short" about:"principal" csv:"42" doc:"its groups, at most 64"`

	Server   string `json:"server,omitempty" about:"item" csv:"16" ocsf:"api.service.name" doc:"the server; of an unknown item, the one that it names if that could not be started"`
	ItemKind string `json:"item_kind,omitempty" about:"item" csv:"17" ocsf:"resources.type" doc:"'tool', 'resource', 'template' or 'prompt'"`
	Item     string `json:"item,omitempty" mask:"long" about:"item" csv:"18" ocsf:"resources.name" doc:"the server's own name of the item; of an unknown item, the name that the client used"`
	Method   string `json:"method,omitempty" mask:"short" about:"item" csv:"19" ocsf:"api.operation" doc:"the method of the request"`
	Rounds   int    `json:"rounds,omitempty" about:"item" csv:"43" doc:"the number of requests of a call that asked its client something"`

	ArgumentsDigest string          `json:"arguments_digest,omitempty" about:"content" csv:"24" doc:"SHA-256 of the arguments as the server gets them"`
	ArgumentsSize   int             `json:"arguments_size,omitempty" about:"content" csv:"25" doc:"bytes of the arguments"`
	Arguments       json.RawMessage `json:"arguments,omitempty" mask:"json" about:"content" csv:"26" doc:"the arguments, only with 'arguments = \"full\"'"`

	Decision         string  `json:"decision,omitempty" about:"policy" csv:"22" doc:"the decision of the [policy](permissions.md)"`
	Rule             string  `json:"rule,omitempty" mask:"long" about:"policy" csv:"23" doc:"the rule that decided with its place in the file and, if a condition could not be evaluated, why"`
	RuleName         string  `json:"rule_name,omitempty" mask:"short" about:"policy" csv:"35" doc:"the name of the rule, if it has one"`
	Policy           string  `json:"policy,omitempty" about:"policy" csv:"36" doc:"a digest of the rules"`
	Access           string  `json:"access,omitempty" about:"policy" csv:"20" doc:"'read', 'write' or 'ambiguous'"`
	AccessSource     string  `json:"access_source,omitempty" about:"policy" csv:"21" doc:"what classified the tool: 'configuration', 'hint' or 'words'"`
	AccessConfidence float64 `json:"access_confidence,omitempty" about:"policy" csv:"38" doc:"how sure the classification is, from 0 to 1"`
	Hidden           int     `json:"hidden,omitempty" about:"policy" csv:"39" doc:"of a list: how many items the policy left out ([why no names](decisions/0029-hidden-items-are-a-number.md))"`

	Outcome      Outcome         `json:"outcome,omitempty" about:"event" csv:"4" doc:"how it ended, see below"`
	Code         string          `json:"code,omitempty" about:"event" csv:"5" ocsf:"status_code" doc:"the [code](errors.md) of the error"`
	Message      string          `json:"message,omitempty" mask:"short" about:"event" csv:"29" ocsf:"status_detail" doc:"the text of the error, at most 512 bytes"`
	DurationMS   float64         `json:"duration_ms,omitempty" about:"content" csv:"27,0" ocsf:"duration" doc:"how long it took, with the waits for limits and approvals"`
	RetryAfterMS int             `json:"retry_after_ms,omitempty" about:"content" csv:"37" doc:"how long the client was told to wait, of 'rate_limited' and 'overloaded' requests"`
	ResultSize   int             `json:"result_size,omitempty" about:"content" csv:"28" doc:"bytes of the result"`
	Result       json.RawMessage `json:"result,omitempty" mask:"json" about:"content" csv:"44" doc:"the result, only with 'results = \"full\"'"`

	Plugin   string `json:"plugin,omitempty" mask:"short" about:"event" csv:"30" doc:"of other events: the plugin"`
	By       string `json:"by,omitempty" mask:"short" about:"event" csv:"31" doc:"of other events: the person or process that approved or restarted"`
	Approval string `json:"approval,omitempty" about:"event" csv:"40" doc:"the id of the approval that a request used, waited for or was denied under, and of the row 'approval' that says in 'by' who gave or denied it"`
	Detail   string `json:"detail,omitempty" mask:"long" about:"event" csv:"32" doc:"of other events: further text"`
	Count    int    `json:"count,omitempty" about:"event" csv:"33" doc:"the number of missing rows, or of refused clients without rows of their own"`
}

// sections are the groups of fields, in the order in which people see them. The variables of
// this file are set once and only read.
var sections = []string{"event", "principal", "client", "item", "policy", "content", "chain"}

// SetArguments sets the arguments of a use with their digest and size. It keeps a
// reference to them.
func (e *Event) SetArguments(arguments []byte) {
	e.Arguments, e.ArgumentsSize = arguments, len(arguments)
	if len(arguments) > 0 {
		sum := sha256.Sum256(arguments)
		var text [2 * len(sum)]byte // on the stack: each request comes here
		hex.Encode(text[:], sum[:])
		e.ArgumentsDigest = string(text[:])
	}
}

// Milliseconds returns a duration as rows have it.
func Milliseconds(d time.Duration) float64 {
	return float64(max(0, d.Round(time.Microsecond))) / float64(time.Millisecond)
}

// A Field is a field of rows.
type Field struct {
	Name    string
	Doc     string
	OCSF    string // the attribute that has it; "": it is under unmapped
	Payload bool   // JSON of any length
	kind    kind
	section int    // an index of sections
	column  int    // in CSV, from 1 on
	zero    string // the text in CSV if a row does not have the field
	most    int    // bytes of a value that may hold a secret; 0: it has none
	always  bool   // also rows in which it is empty have it
	index   []int  // of the member of Row
}

// A kind is a kind of values.
type kind int

const (
	number kind = iota
	moment
	text
	list
	payload
)

// kindOf returns the kind of a type of members.
func kindOf(t reflect.Type) kind {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return moment
	case t == reflect.TypeFor[json.RawMessage]():
		return payload
	case t == reflect.TypeFor[[]string]():
		return list
	case t.Kind() == reflect.String:
		return text
	}
	return number
}

// outside is how many of fields the content of a row does not have.
const outside = 2

// fields returns all fields in the order of the file.
var fields = sync.OnceValue(func() (all []*Field) {
	for _, m := range reflect.VisibleFields(reflect.TypeFor[Row]()) {
		if m.Anonymous {
			continue
		}
		name, option, _ := strings.Cut(m.Tag.Get("json"), ",")
		column, zero, _ := strings.Cut(m.Tag.Get("csv"), ",")
		f := &Field{Name: name, Doc: m.Tag.Get("doc"), OCSF: m.Tag.Get("ocsf"), kind: kindOf(m.Type), zero: zero,
			always: option == "", index: m.Index}
		f.Payload = f.kind == payload
		f.section = slices.Index(sections, m.Tag.Get("about"))
		f.most = map[string]int{"short": maxText, "long": maxItem, "json": maxPayload}[m.Tag.Get("mask")]
		f.column, _ = strconv.Atoi(column)
		all = append(all, f)
	}
	return all
})

// Fields returns all fields in the order in which people see them.
func Fields() []*Field {
	return slices.SortedStableFunc(slices.Values(fields()), func(a, b *Field) int { return a.section - b.section })
}

// Label returns the name in words.
func (f *Field) Label() string { return strings.ReplaceAll(f.Name, "_", " ") }

// Text returns the value in a row: lists as JSON, and "" if the row does not have the field.
func (f *Field) Text(r *Row) string {
	v := reflect.ValueOf(r).Elem().FieldByIndex(f.index)
	switch {
	case f.kind == text:
		return v.String()
	case !f.always && f.empty(v):
		return ""
	case f.kind == moment:
		return v.Interface().(time.Time).UTC().Format(timeFormat)
	}
	return string(f.append(nil, v))
}
