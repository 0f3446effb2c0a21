package httpserver

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// An accept says which media types a client accepts. It is a value of one request. The
// functions of this file are pure.
type accept struct{ json, stream bool }

// The media ranges that include each type, the most specific one last.
var (
	jsonRanges   = []string{"*/*", "application/*", "application/json"}
	streamRanges = []string{"*/*", "text/*", "text/event-stream"}
)

// acceptOf parses the Accept headers. A client without the header, or with an empty one,
// accepts everything. The most specific range decides. A weight of zero excludes a type;
// other weights do not matter.
func acceptOf(h http.Header) accept {
	a, said := accept{}, false
	json, stream := 0, 0
	for _, value := range h["Accept"] {
		for part := range strings.SplitSeq(value, ",") {
			kind, parameters, _ := strings.Cut(part, ";")
			kind = strings.ToLower(strings.TrimSpace(kind))
			said = said || kind != ""
			if at := slices.Index(jsonRanges, kind); at >= json {
				json, a.json = at, !weighsNothing(parameters)
			}
			if at := slices.Index(streamRanges, kind); at >= stream {
				stream, a.stream = at, !weighsNothing(parameters)
			}
		}
	}
	if !said {
		return accept{json: true, stream: true}
	}
	return a
}

// weighsNothing reports whether the parameters of a media range have the weight zero.
func weighsNothing(parameters string) bool {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && q == 0
		}
	}
	return false
}
