package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// list answers tools/list. All tools are one page.
func (s *server) list(r *request) (any, *rpcError) {
	s.offer.await(r.ctx)
	complete := s.offer.ready()
	meta := r.params.members("_meta")
	tools, about, err := s.offer.list(string(meta[tool.ModelMeta]) == "true")
	if err != nil {
		return nil, &rpcError{Code: internalError, Message: "discovering what " + s.name + " can do: " + strings.TrimSpace(err.Error())}
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
		Meta  map[string]json.RawMessage `json:"_meta,omitempty"`
	}{Tools: tools}
	if about != nil {
		result.Meta = map[string]json.RawMessage{tool.ModelMeta: about}
	}
	return modernResult(r, render(result), fmt.Sprintf(`,"ttlMs":%d,"cacheScope":"private"`, ttl)), nil
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
