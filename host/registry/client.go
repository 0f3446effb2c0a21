package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/loopback"
	"github.com/junctor-mcp/junctor/host/neterror"
)

// Official is the URL of the registry that is asked if no other one is named.
const Official = "https://registry.modelcontextprotocol.io"

const (
	maxBody  = 8 << 20 // bytes of one answer
	pageSize = 100     // entries; the most that the official registry returns
	maxPages = 10      // of one search
	patience = 20 * time.Second
)

// A Client reads one registry. Its methods may be called concurrently.
type Client struct {
	base    string // without the version of the API
	http    *http.Client
	cache   cache.Dir
	offline bool
}

// NewClient returns a client for a registry. With offline, it only reads what it stored in
// dir. The error has the code usage.
func NewClient(address string, dir cache.Dir, offline bool) (*Client, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fault.New(fault.Usage, "%q is not the URL of a registry", redacted(address)).
			WithHint("write a URL such as %s", Official)
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback.Is(u.Hostname())):
		return nil, fault.New(fault.Usage, "the registry %s is not reached over HTTPS", u.Host).
			WithHint("entries name programs to run, so only this machine may be asked over HTTP")
	}
	base := strings.TrimSuffix(strings.TrimSuffix(u.String(), "/"), "/v0.1")
	return &Client{base: base, cache: dir, offline: offline,
		http: &http.Client{Timeout: patience, CheckRedirect: sameScheme}}, nil
}

// redacted returns an address without a user and a password.
func redacted(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Redacted()
	}
	return "the address"
}

// sameScheme follows a few redirects that do not leave HTTPS.
func sameScheme(r *http.Request, via []*http.Request) error {
	if len(via) > 3 || r.URL.Scheme != via[0].URL.Scheme ||
		via[0].URL.Scheme == "http" && r.URL.Host != via[0].URL.Host {
		return errors.New("it redirects too often or to another scheme or host")
	}
	return nil
}

// URL returns the address of the registry.
func (c *Client) URL() string { return c.base }

// A Found is a list of entries. Stored is the time at which they were read if the registry
// did not answer now, else zero.
type Found struct {
	Entries []Entry
	Stored  time.Time
}

// Search returns the latest versions of the servers whose name contains the text; the best
// match first, each name once.
func (c *Client) Search(ctx context.Context, text string) (Found, error) {
	var found Found
	cursor := ""
	for range maxPages {
		query := url.Values{"search": {text}, "version": {"latest"}, "limit": {fmt.Sprint(pageSize)}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		var page listPage
		stored, err := c.get(ctx, "/v0.1/servers?"+query.Encode(), &page)
		if err != nil {
			return Found{}, err
		}
		if !stored.IsZero() && (found.Stored.IsZero() || stored.Before(found.Stored)) {
			found.Stored = stored
		}
		for _, e := range page.Servers {
			found.Entries = append(found.Entries, e.entry())
		}
		if cursor = page.Metadata.NextCursor; cursor == "" || len(page.Servers) == 0 {
			break
		}
	}
	found.Entries = ranked(found.Entries, text)
	return found, nil
}

// ranked sorts by how well a name matches, and leaves out what is deleted, what is not the
// latest version, and names that occur twice.
func ranked(all []Entry, text string) []Entry {
	seen := map[string]bool{}
	all = slices.DeleteFunc(all, func(e Entry) bool {
		twice := seen[e.Name]
		seen[e.Name] = true
		return twice || e.Name == "" || e.Status == "deleted"
	})
	text = strings.ToLower(text)
	rank := func(e Entry) int {
		short := strings.ToLower(e.Short())
		switch {
		case short == text:
			return 0
		case strings.Contains(short, text):
			return 1
		case strings.Contains(strings.ToLower(e.Description), text):
			return 2
		}
		return 3
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return rank(a) - rank(b) })
	return all
}

// Version returns one version of a server, or the latest one for "latest". An unknown server
// is an error with the code registry.unknown.
func (c *Client) Version(ctx context.Context, name, version string) (Entry, time.Time, error) {
	var got listed
	stored, err := c.get(ctx, "/v0.1/servers/"+url.PathEscape(name)+"/versions/"+url.PathEscape(version), &got)
	if err != nil {
		return Entry{}, stored, err
	}
	e := got.entry()
	if e.Name != name || e.Version == "" || version != "latest" && e.Version != version {
		return Entry{}, stored, c.unusable(fmt.Errorf("it answered with %q, version %q", e.Name, e.Version))
	}
	return e, stored, nil
}

// errAbsent is the error of an answer with the status 404.
var errAbsent = errors.New("not found")

// A storedAnswer is the content of a file in the cache.
type storedAnswer struct {
	Read time.Time
	Body json.RawMessage
}

// get decodes an answer. If the registry cannot be asked, the stored answer is used and its
// time returned.
func (c *Client) get(ctx context.Context, path string, into any) (stored time.Time, err error) {
	sum := sha256.Sum256([]byte(c.base + path))
	file := "registry-" + hex.EncodeToString(sum[:16]) + ".json"
	var body []byte
	if c.offline {
		err = errors.New("it is not asked, because of --offline")
	} else if body, err = c.ask(ctx, c.base+path); err == nil {
		if err := json.Unmarshal(body, into); err != nil {
			return stored, c.unusable(err)
		}
		if text, err := json.Marshal(storedAnswer{Read: time.Now().UTC(), Body: body}); err == nil {
			c.cache.Write(file, text)
		}
		return stored, nil
	}
	if errors.Is(err, errAbsent) {
		return stored, fault.New(fault.RegistryUnknown, "%s does not have this server, or not this version of it",
			c.base).WithHint("run `junctor search WORD`")
	}
	if ctx.Err() != nil {
		return stored, ctx.Err()
	}
	var old storedAnswer
	if text, ok := c.cache.Read(file); ok && json.Unmarshal(text, &old) == nil &&
		json.Unmarshal(old.Body, into) == nil {
		return old.Read, nil
	}
	return stored, c.unusable(err)
}

func (c *Client) unusable(err error) error {
	return fault.Because(fault.RegistryUnavailable, err, "the registry %s cannot be used", c.base).
		WithHint("check the address and the network, or name another registry with --registry")
}

// ask sends one request and returns the body of a successful answer.
func (c *Client) ask(ctx context.Context, address string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, neterror.Explain(err)
	}
	defer func() { _ = answer.Body.Close() }()
	switch {
	case answer.StatusCode == http.StatusNotFound:
		return nil, errAbsent
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answered with the status %d", answer.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody+1))
	if err == nil && len(body) > maxBody {
		err = fmt.Errorf("its answer is larger than %d MiB", maxBody>>20)
	}
	return body, err
}
