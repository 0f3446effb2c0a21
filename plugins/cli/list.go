package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/tool"
	"github.com/junctor-mcp/junctor/sdk"
)

// pageSize is how many bytes of tools a page of the list has, about.
const pageSize = 4 << 20

// list answers tools/list. The cursor is the number of the first tool of a page:
// tools are only ever added at the end.
func (s *server) list(r *request) (any, *rpcError) {
	s.offer.await(r.ctx)
	complete := s.offer.ready()
	meta := r.params.members("_meta")
	tools, about, err := s.offer.list(string(meta[tool.ModelMeta]) == "true")
	if err != nil {
		return nil, &rpcError{Code: internalError, Message: "discovering what " + s.name + " can do: " + explained(err)}
	}
	first := 0
	if raw := r.params["cursor"]; !isNull(raw) {
		cursor, _ := r.params.text("cursor")
		if first, err = strconv.Atoi(cursor); err != nil || first < 1 || first > len(tools) {
			return nil, &rpcError{Code: invalidParams, Message: "params.cursor is none that this server gave out"}
		}
	}
	ttl := listTTL
	if !complete {
		s.log.Warn("discovery goes on; the list has what is known so far", "tools", len(tools))
		ttl = 0
		s.mu.Lock()
		s.partial = true
		s.mu.Unlock()
	}
	result := struct {
		Tools []json.RawMessage          `json:"tools"`
		Next  string                     `json:"nextCursor,omitempty"`
		Meta  map[string]json.RawMessage `json:"_meta,omitempty"`
	}{}
	result.Tools, result.Next = page(tools, first, min(pageSize, s.largest/2))
	if about != nil {
		result.Meta = map[string]json.RawMessage{tool.ModelMeta: about}
	}
	return modernResult(r, render(result), fmt.Sprintf(`,"ttlMs":%d,"cacheScope":"private"`, ttl)), nil
}

// page returns the tools from the first that fit, at least one, and the cursor of
// those that do not.
func page(tools []json.RawMessage, first, most int) (fit []json.RawMessage, next string) {
	size := 0
	for i, t := range tools[first:] {
		if size += len(t); size > most && i > 0 {
			return tools[first : first+i], strconv.Itoa(first + i)
		}
	}
	return tools[first:], ""
}

// explained is an error with what to do about it.
func explained(err error) string {
	text := strings.TrimSpace(err.Error())
	if e, ok := errors.AsType[*sdk.Error](err); ok && e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

const (
	noteToolsChanged = "notifications/tools/list_changed"
	noteAcknowledged = "notifications/subscriptions/acknowledged"
)

// listen answers subscriptions/listen, which stays open until the host cancels
// it. Only the list of tools can change, and that once.
func (s *server) listen(r *request) (any, *rpcError) {
	subscription := object{metaSubscription: r.id}
	agreed := object{}
	wanted := string(r.params.members("notifications")["toolsListChanged"]) == "true"
	if wanted && s.set.discovers() {
		agreed["toolsListChanged"] = true
	}
	s.push(notification(noteAcknowledged, object{"notifications": agreed, "_meta": subscription}))
	if len(agreed) > 0 {
		select {
		case <-s.offer.done:
			if s.outdated() {
				s.push(notification(noteToolsChanged, object{"_meta": subscription}))
			}
		case <-r.ctx.Done():
		}
	}
	<-r.ctx.Done()
	return nil, nil
}

// outdated reports whether the host has a list that lacks something.
func (s *server) outdated() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.partial
}

// listChanged tells a legacy host that the discovery is over.
func (s *server) listChanged() {
	s.mu.Lock()
	tell := s.legacy && s.partial
	s.mu.Unlock()
	if tell {
		s.push(notification(noteToolsChanged, nil))
	}
}
