package main

import (
	"context"
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

// unfinishedMeta is the name in _meta of a list under which the host is told that
// there is more, and how much is known.
const unfinishedMeta = "junctor/unfinished"

// list answers tools/list. A list that is not complete says so, and is followed
// by the notification that it changed.
func (s *server) list(r *request) (any, *rpcError) {
	l, first, failed := s.listed(r)
	if failed != nil {
		return nil, failed
	}
	result := struct {
		Tools []json.RawMessage `json:"tools"`
		Next  string            `json:"nextCursor,omitempty"`
		Meta  map[string]any    `json:"_meta,omitempty"`
	}{Meta: map[string]any{}}
	result.Tools, result.Next = page(l.tools, first, min(pageSize, s.largest/2))
	if result.Next != "" {
		result.Next = fmt.Sprintf("%d.%s", l.version, result.Next)
	}
	if l.about != nil {
		result.Meta[tool.ModelMeta] = l.about
	}
	ttl := listTTL
	if l.more != nil {
		ttl = 0
		result.Meta[unfinishedMeta] = l.more
	}
	return modernResult(r, render(result), fmt.Sprintf(`,"ttlMs":%d,"cacheScope":"private"`, ttl)), nil
}

// listed returns the list that a request is about and the number of the first
// tool of its page. Only the first page waits for more; the others are of the
// same list.
func (s *server) listed(r *request) (l *listing, first int, failed *rpcError) {
	s.mu.Lock()
	given := s.given
	s.mu.Unlock()
	if raw := r.params["cursor"]; !isNull(raw) {
		text, _ := r.params.text("cursor")
		version, number, _ := strings.Cut(text, ".")
		first, err := strconv.Atoi(number)
		if given == nil || version != strconv.Itoa(given.version) || err != nil || first < 1 || first > len(given.tools) {
			return nil, 0, &rpcError{Code: invalidParams, Message: "params.cursor is none that this server gave out for its present list"}
		}
		return given, first, nil
	}
	has := 0
	if given != nil {
		has = given.version
	}
	s.offer.await(r.ctx, has)
	withModel := string(r.params.members("_meta")[tool.ModelMeta]) == "true"
	s.mu.Lock() // what is published from here on is news to the host
	l, err := s.offer.list(withModel)
	if err == nil {
		s.given = l
	}
	s.mu.Unlock()
	if err != nil {
		return nil, 0, &rpcError{Code: internalError, Message: "discovering what " + s.name + " can do: " + explained(err)}
	}
	if l.more != nil {
		s.log.Info("the list of tools is not complete yet", "tools", len(l.tools), "explained", l.more.Known, "commands", l.more.Total)
	}
	return l, 0, nil
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
// it. Only the list of tools can change.
func (s *server) listen(r *request) (any, *rpcError) {
	subscription := object{metaSubscription: r.id}
	agreed := object{}
	wanted := string(r.params.members("notifications")["toolsListChanged"]) == "true"
	if wanted && s.set.discovers() {
		agreed["toolsListChanged"] = true
	}
	s.push(notification(noteAcknowledged, object{"notifications": agreed, "_meta": subscription}))
	if len(agreed) > 0 {
		s.announce(r.ctx, subscription)
	}
	<-r.ctx.Done()
	return nil, nil
}

// announce tells a modern host, until the discovery is over, that there is more
// than what it was given.
func (s *server) announce(ctx context.Context, subscription object) {
	for told := 0; ; {
		version, last, published := s.offer.now()
		if version != told && s.outdated(version) {
			told = version
			s.push(notification(noteToolsChanged, object{"_meta": subscription}))
		}
		if last {
			return
		}
		select {
		case <-published:
		case <-ctx.Done():
			return
		}
	}
}

// outdated reports whether the host has a list that was not complete, and there
// is another one.
func (s *server) outdated(version int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given != nil && s.given.more != nil && s.given.version < version
}

// listChanged tells a legacy host that there is more than what it was given.
func (s *server) listChanged() {
	version, _, _ := s.offer.now()
	s.mu.Lock()
	legacy := s.legacy
	s.mu.Unlock()
	if legacy && s.outdated(version) {
		s.push(notification(noteToolsChanged, nil))
	}
}
