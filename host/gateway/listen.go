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
// subscriptions, then notifications, and a result when the session ends. Its goroutine is that
// of the request and waits here as long as the client listens. The notifications come from
// other goroutines through the session, which belongs to this request.
func listenRequest(ctx context.Context, u *use) (response, error) {
	u.openSession(ctx)
	asked := mcp.Member(u.params, "notifications")
	if mcp.Member(asked, "taskIds") != nil && !u.knowsTasks() {
		return response{}, noTasks("taskIds")
	}
	methods, agreed := listChanges(asked)
	uris, tasks := uniqueTexts(mcp.Member(asked, "resourceSubscriptions"), subscription.Canonical),
		uniqueTexts(mcp.Member(asked, "taskIds"), strings.Clone)
	l, err := u.session.subs.Listen(u.id, u.out, methods, len(uris)+len(tasks))
	if err != nil {
		return response{}, tooManySubscriptions()
	}
	defer l.Close()
	agreed = withTexts(
		agreed, "resourceSubscriptions",
		l.Subscribe(uris, func(uri string) (subscription.Subscription, error) { return listenTo(ctx, u, uri) }),
	)
	if len(tasks) > 0 {
		u.gw.sessions.add(u.session) // statuses may arrive before the acknowledgement
		agreed = withTexts(
			agreed, "taskIds",
			l.Follow(
				tasks,
				func(id string, record func(subscription.Subscription)) error { return follow(ctx, u, id, record) },
			),
		)
	}
	acknowledge(u, l, agreed)
	if u.generation != u.gw.generations.current() { // the policy may have changed since
		u.session.dropDenied()
	}
	u.leaveGeneration() // it may listen for days
	select {
	case <-l.Ended():
		return response{result: mcp.SetPath(
			[]byte(`{"resultType":"complete"}`), []string{"_meta", mcp.MetaSubscription}, u.id,
		)}, nil
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
func acknowledge(u *use, l *subscription.Listen, agreed []byte) {
	u.gw.sessions.add(u.session)
	noteListening(u.pendingRequest)
	if u.gw.Ending() {
		u.session.subs.EndListens()
	}
	l.Acknowledge(agreed, u.gw.generations.version)
}

// listenTo subscribes to one of the resources of a listen request, if the policy allows the resource.
func listenTo(ctx context.Context, u *use, uri string) (sub subscription.Subscription, err error) {
	if len(uri) > maxURI {
		return sub, errURITooLong()
	}
	at, err := u.gw.finder.locate(ctx, u.generation, u.principal, uri)
	if err != nil {
		return sub, err
	}
	q := u.query(policy.Item{Server: at.Server, Kind: policy.Resource, Name: at.URI})
	d := u.generation.Policy.Decide(&q)
	if d.Approval() != nil {
		return sub, fault.New(fault.ApprovalRequired,
			"resource %q needs an approval, so it cannot be part of a listen request", clip(uri))
	}
	permit, err := d.Permit()
	if err != nil {
		return sub, err
	}
	return subscribeTo(ctx, u, at, permit, uri)
}

// follow subscribes to one of the tasks of a listen request.
func follow(ctx context.Context, u *use, id string, record func(subscription.Subscription)) error {
	t, permit, ok := permitTask(u, id)
	// the connection that made it is another request's by now
	if !ok || u.generation.Servers[t.server].Share == PerSession {
		return fault.New(fault.UpstreamUnsupported, "the task cannot be listened to")
	}
	up, err := u.upstreamFor(t.server)
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
