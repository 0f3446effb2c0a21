package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/catalog"
)

const (
	maxPromptFields = 50       // arguments of a prompt that have a field
	maxURI          = 8 << 10  // bytes
	maxArgument     = 64 << 10 // bytes
)

// An itemView is the content of the page of a resource, a template or a prompt.
type itemView struct {
	itemRow
	URI     string // in the form of a template
	Fields  []argumentField
	unknown bool // URI lacks what the page masks
	Tried   *tried
}

// An argumentField is the field of an argument of a prompt.
type argumentField struct {
	catalog.Argument
	ID   string
	Text string
}

// Noun returns the kind of the item for a title.
func (v itemView) Noun() string {
	if v.Kind == "template" {
		return "Resource template"
	}
	return strings.ToUpper(v.Kind[:1]) + v.Kind[1:]
}

// itemOf returns the view of the item that a request names, with the texts of a form that was
// sent.
func (q *request) itemOf(sent url.Values) (*itemView, error) {
	all := rowsOfItems(q.sources.Items.Items())
	i := slices.IndexFunc(all, func(one itemRow) bool {
		return one.Kind == sent.Get("kind") && one.Server == sent.Get("server") &&
			q.views.names.means(sent.Get("name"), one.Exposed)
	})
	if i < 0 {
		return nil, errNoPage
	}
	v := &itemView{itemRow: all[i], URI: all[i].Exposed}
	if v.Kind == "template" && sent.Has("uri") {
		v.URI = cutBytes(strings.TrimSpace(sent.Get("uri")), maxURI)
		if whole, ok := q.views.names.unmasked(v.URI, v.Exposed); ok {
			v.URI = whole
		} else {
			v.unknown = true
		}
	}
	for n, a := range v.Arguments[:min(len(v.Arguments), maxPromptFields)] {
		id := fmt.Sprint("arg", n)
		v.Fields = append(v.Fields, argumentField{a, id, cutBytes(sent.Get(id), maxArgument)})
	}
	return v, nil
}

// showItem writes the page of an item. The goroutine of the request runs it and readItem, which
// waits for the server. They keep no state.
func showItem(w http.ResponseWriter, r *http.Request, q *request) error {
	v, err := q.itemOf(r.URL.Query())
	if err != nil {
		return err
	}
	q.showItemView(w, http.StatusOK, v)
	return nil
}

func (q *request) showItemView(w http.ResponseWriter, status int, v *itemView) {
	if v.Tried != nil && v.Tried.Result.hasMedia() {
		w.Header().Set("Content-Security-Policy", mediaPolicy)
	}
	q.show(w, status, "item", v.Noun()+" "+v.Exposed, v)
}

// missing returns why the form of an item cannot be sent, or "".
func (v *itemView) missing() string {
	if v.unknown {
		return "The template has a secret, which this page masks: keep the mask once where it is. If it cannot be kept, read the resource with junctor read."
	}
	if v.Kind == "template" && strings.ContainsAny(v.URI, "{}") {
		return "The URI has braces: put a value in place of each name in braces."
	}
	for _, f := range v.Fields {
		if f.Required && f.Text == "" {
			return fmt.Sprintf("The argument %s is required.", f.Name)
		}
	}
	return ""
}

// readItem reads a resource or gets a prompt as a client of the gateway does: the policy, the
// limits and the audit log apply.
func readItem(w http.ResponseWriter, r *http.Request, q *request) error {
	v, err := q.itemOf(r.PostForm)
	if err != nil {
		return err
	}
	if why := v.missing(); why != "" {
		v.Tried = &tried{Failed: true, Error: why}
		q.showItemView(w, http.StatusUnprocessableEntity, v)
		return nil
	}
	c := Caller{Principal: q.session.who, Address: addressOf(r)}
	v.Tried, err = q.try(w, r, func(ctx context.Context) (Result, error) {
		q.log.Info("an item is read from the console", "server", v.Server, "item", v.Name, "by", q.session.name())
		if v.prompt != nil {
			return q.sources.Items.Prompt(ctx, c, v.prompt, v.arguments())
		}
		return q.sources.Items.Read(ctx, c, v.Server, v.URI)
	})
	if err != nil {
		return err
	}
	defer v.Tried.hold.Release()
	q.showItemView(w, http.StatusOK, v)
	return nil
}

// arguments returns the arguments of a prompt that have a value.
func (v *itemView) arguments() map[string]string {
	args := map[string]string{}
	for _, f := range v.Fields {
		if f.Text != "" {
			args[f.Name] = f.Text
		}
	}
	return args
}
