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

// pageSize is the approximate size of one page of the list, in bytes.
const pageSize = 4 << 20

// unfinishedMeta is the name in _meta of a list under which the host learns
// that discovery has not finished.
const unfinishedMeta = "junctor/unfinished"

// list answers tools/list. An incomplete list says so, and a notification
// follows when it changes.
func (s *server) list(r *request) (any, *rpcError) {
	l, first, failed := s.requestedList(r)
	if failed != nil {
		return nil, failed
	}
	result := struct {
		Tools []json.RawMessage `json:"tools"`
		Next  string            `json:"nextCursor,omitempty"`
		Meta  map[string]any    `json:"_meta,omitempty"`
	}{Meta: map[string]any{}}
	result.Tools, result.Next = page(l.tools, first, min(pageSize, s.maxMessage/2))
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

// requestedList returns the list for a request and the index of the first tool
// on its page. Only the first page waits for discovery; further pages come from
// the same list.
func (s *server) requestedList(r *request) (l *listing, first int, failed *rpcError) {
	s.mu.Lock()
	given := s.given
	s.mu.Unlock()
	if raw := r.params["cursor"]; !isNull(raw) {
		text, _ := r.params.text("cursor")
		version, number, _ := strings.Cut(text, ".")
		first, err := strconv.Atoi(number)
		if given == nil || version != strconv.Itoa(given.version) || err != nil || first < 1 ||
			first > len(given.tools) {
			return nil, 0, &rpcError{Code: invalidParams, Message: "params.cursor is not a cursor of the current list"}
		}
		return given, first, nil
	}
	has := 0
	if given != nil {
		has = given.version
	}
	s.catalog.await(r.ctx, has)
	withModel := string(r.params.members("_meta")[tool.ModelMeta]) == "true"
	s.mu.Lock() // versions published from here on are newer than the list
	l, err := s.catalog.list(withModel)
	if err == nil {
		s.given = l
	}
	s.mu.Unlock()
	if err != nil {
		message, setting := withHint(err), settingOf(err)
		if setting == nil {
			message = "discovering the commands of " + s.name + ": " + message
		}
		return nil, 0, &rpcError{Code: internalError, Message: message, Data: setting}
	}
	if l.more != nil {
		s.log.Info("the list of tools is not complete yet",
			"tools", len(l.tools), "explained", l.more.Known, "commands", l.more.Total)
	}
	return l, 0, nil
}

// page returns the tools from index first on that fit into most bytes, at least
// one. next is the index of the next page, or "" if there is none.
func page(tools []json.RawMessage, first, most int) (fit []json.RawMessage, next string) {
	size := 0
	for i, t := range tools[first:] {
		if size += len(t); size > most && i > 0 {
			return tools[first : first+i], strconv.Itoa(first + i)
		}
	}
	return tools[first:], ""
}

// settingOf returns the data of an error about a setting, so that the host can point at
// it, or nil.
func settingOf(err error) any {
	if e, ok := errors.AsType[*sdk.Error](err); ok && e.Path != "" {
		return object{settingMember: e.Path}
	}
	return nil
}

// settingMember is the member of an error's data with the path of a setting.
const settingMember = "junctor/setting"

// withHint returns the text of an error with its hint.
func withHint(err error) string {
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

// listen answers subscriptions/listen. The subscription stays open until the
// host cancels it. Only the list of tools can change.
func (s *server) listen(r *request) (any, *rpcError) {
	subscription := object{metaSubscription: r.id}
	agreed := object{}
	wanted := string(r.params.members("notifications")["toolsListChanged"]) == "true"
	if wanted && s.set.discovers() {
		agreed["toolsListChanged"] = true
	}
	s.push(notification(noteAcknowledged, object{"notifications": agreed, "_meta": subscription}))
	if len(agreed) > 0 {
		s.notifyChanges(r.ctx, subscription)
	}
	<-r.ctx.Done()
	return nil, nil
}

// notifyChanges notifies a subscriber of each new list until discovery has
// finished.
func (s *server) notifyChanges(ctx context.Context, subscription object) {
	for notified := 0; ; {
		version, last, published := s.catalog.current()
		if version != notified && s.outdated(version) {
			notified = version
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

// outdated reports whether the host has an incomplete list and version is
// newer.
func (s *server) outdated(version int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given != nil && s.given.more != nil && s.given.version < version
}

// listChanged notifies a host of a legacy protocol revision of a new list.
func (s *server) listChanged() {
	version, _, _ := s.catalog.current()
	s.mu.Lock()
	legacy := s.legacy
	s.mu.Unlock()
	if legacy && s.outdated(version) {
		s.push(notification(noteToolsChanged, nil))
	}
}
