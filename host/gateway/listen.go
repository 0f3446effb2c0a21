package gateway

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/subscription"
)

// filters maps each member of a listen request to the notification that it selects.
var filters = map[string]string{
	"toolsListChanged":     mcp.NoteToolsChanged,
	"promptsListChanged":   mcp.NotePromptsChanged,
	"resourcesListChanged": mcp.NoteResChanged,
}

// listenRequest answers a listen request. It sends the acknowledgement with the accepted
// subscriptions, then notifications, and a result when the session ends.
func listenRequest(ctx context.Context, r *request) (response, error) {
	r.openSession(ctx)
	asked := mcp.Member(r.params, "notifications")
	if mcp.Member(asked, "taskIds") != nil && !r.knowsTasks() {
		return response{}, noTasks("taskIds")
	}
	methods, agreed := listChanges(asked)
	uris, tasks := uniqueTexts(mcp.Member(asked, "resourceSubscriptions"), subscription.Canonical), uniqueTexts(mcp.Member(asked, "taskIds"), strings.Clone)
	l, err := r.session.subs.Listen(r.id, r.out, methods, len(uris)+len(tasks))
	if err != nil {
		return response{}, tooManySubscriptions()
	}
	defer l.Close()
	agreed = withTexts(agreed, "resourceSubscriptions", l.Subscribe(uris, func(uri string) (subscription.Subscription, error) { return r.listenTo(ctx, uri) }))
	if len(tasks) > 0 {
		r.gw.sessions.add(r.session) // statuses may arrive before the acknowledgement
		agreed = withTexts(agreed, "taskIds", l.Follow(tasks, func(id string, record func(subscription.Subscription)) error { return r.follow(ctx, id, record) }))
	}
	r.acknowledge(l, agreed)
	if r.generation != r.gw.generations.current() { // the policy may have changed since
		r.session.dropDenied()
	}
	r.leaveGeneration() // it may listen for days
	select {
	case <-l.Ended():
		return response{result: mcp.SetPath([]byte(`{"resultType":"complete"}`), []string{"_meta", mcp.MetaSubscription}, r.id)}, nil
	case <-ctx.Done():
		return response{}, nil
	}
}

// listChanges returns the methods of the list changes that a listen request asks for,
// and an object with its members about them.
func listChanges(asked []byte) (methods []string, agreed []byte) {
	agreed = []byte("{}")
	for _, member := range slices.Sorted(maps.Keys(filters)) {
		if string(mcp.Member(asked, member)) == "true" {
			methods = append(methods, filters[member])
			agreed = mcp.SetMember(agreed, member, []byte("true"))
		}
	}
	return methods, agreed
}

// acknowledge acknowledges a listen request. Nothing is sent for it before.
func (r *request) acknowledge(l *subscription.Listen, agreed []byte) {
	r.gw.sessions.add(r.session)
	r.noteListening()
	if r.gw.Ending() {
		r.session.subs.EndListens()
	}
	l.Acknowledge(agreed, r.gw.generations.version)
}

// listenTo subscribes to one of the resources of a listen request, if the policy allows
// the resource.
func (r *request) listenTo(ctx context.Context, uri string) (sub subscription.Subscription, err error) {
	if len(uri) > maxURI {
		return sub, errURITooLong()
	}
	at, err := r.gw.finder.locate(ctx, r.generation, r.principal, uri)
	if err != nil {
		return sub, err
	}
	q := r.query(policy.Item{Server: at.Server, Kind: policy.Resource, Name: at.URI})
	d := r.generation.Policy.Decide(&q)
	if d.Approval() != nil {
		return sub, fault.New(fault.ApprovalRequired, "resource %q needs an approval, so it cannot be part of a listen request", clip(uri))
	}
	permit, err := d.Permit()
	if err != nil {
		return sub, err
	}
	return r.subscribeTo(ctx, at, permit, uri)
}

// follow subscribes to one of the tasks of a listen request.
func (r *request) follow(ctx context.Context, id string, record func(subscription.Subscription)) error {
	t, permit, ok := r.permitTask(id)
	if !ok || r.generation.Servers[t.server].Share == PerSession { // the connection that made it is another request's by now
		return fault.New(fault.UpstreamUnsupported, "the task cannot be listened to")
	}
	up, err := r.upstreamFor(t.server)
	if err != nil {
		return err
	}
	defer up.done()
	record(subscription.Subscription{Server: t.server, Upstream: up.Upstream, Version: up.version})
	return up.Follow(ctx, permit, id)
}

// uniqueTexts returns the strings of a JSON array. Of several strings with the same key
// it returns the first one.
func uniqueTexts(array []byte, key func(string) string) []string {
	var all []string
	seen := map[string]bool{}
	for raw := range mcp.Elements(array) {
		text, ok := mcp.Text(raw)
		if ok && !seen[key(text)] && len(all) <= subscription.Max {
			seen[key(text)] = true
			all = append(all, text)
		}
	}
	return all
}

// withTexts adds an array of texts to an object, unless it is empty.
func withTexts(object []byte, member string, texts []string) []byte {
	if len(texts) == 0 {
		return object
	}
	array := []byte("[")
	for i, text := range texts {
		if i > 0 {
			array = append(array, ',')
		}
		array = mcp.AppendText(array, text)
	}
	return mcp.SetMember(object, member, append(array, ']'))
}
