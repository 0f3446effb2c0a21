package run

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/confine"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// Within returns a check that rejects paths outside d.
func Within(d *confine.Dir) Check {
	return func(p *tool.Parameter, text string) error {
		switch {
		case p == nil:
			return d.Text(text)
		case p.Content.Text:
			return nil // the program never opens it
		case p.Content.Prefix:
			return d.Prefix(text)
		case p.Content.Address && hostPath.MatchString(text) && !fileScheme.MatchString(text):
			return nil // the path belongs to the other machine
		case p.Path && (p.Value.Kind != model.Path || p.Content.Address):
			return d.Place(text)
		case p.Path:
			return d.Path(text)
		case p.Pattern != nil, len(p.Value.Choices) > 0:
			return nil // the configuration or the program already restricts the value
		case text == "/" && p.IsDelimiter():
			return nil
		case p.IsSuffix() && strings.ContainsAny(text, `/\`):
			return errSuffix
		case p.IsSentence():
			return d.Sentence(text)
		}
		return d.Text(text)
	}
}

var errSuffix = errors.New("must not contain a slash: the program joins it to the name of a file")

// hostPath matches HOST:PATH and USER@HOST:PATH. A drive of Windows has one
// letter, and file: is no host.
var (
	hostPath   = regexp.MustCompile(`^(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9][A-Za-z0-9._-]+:[^:]*$`)
	fileScheme = regexp.MustCompile(`(?i)^file:`)
)

// check applies the rules of the tool and the checks of the call to a value. It
// records the first problem and reports whether the value is allowed.
func (d *decoder) check(p *tool.Parameter, path, text string) bool {
	if p != nil && len(p.Content.Unless) > 0 && d.tool.Gives(p.Content.Unless, d.given) ||
		p != nil && p.Role != tool.OptionRole && d.given(tool.FreeName) {
		other := *p
		other.Content.Text = false
		p = &other
	}
	if reason := d.tool.RejectionReason(p, text); reason != "" {
		d.failf(path, "%s", reason)
		return false
	}
	if p != nil && p.File { // the program reads the text as it does standard input, and no part of it is a path for it
		reason := d.tool.StdinRejection(text)
		if reason != "" {
			d.failf(path, "%s", reason)
		}
		return reason == ""
	}
	for _, check := range d.checks {
		if err := check(p, text); err != nil {
			d.failf(path, "%v", withLine(d.tool, err))
			return false
		}
	}
	return true
}

// wholeList checks the text of a list whose elements a separator joins.
func (d *decoder) wholeList(p *tool.Parameter, path, text string) bool {
	reason := d.tool.RejectionReason(p, text)
	if reason != "" {
		d.failf(path, "%s", reason)
		return false
	}
	if p.Content.Text {
		return true
	}
	joined := *p
	joined.Path, joined.Pattern, joined.Value.Choices, joined.Value.Kind = false, nil, nil, model.String
	for _, check := range d.checks {
		if err := check(&joined, text); err != nil {
			d.failf(path, "%v", withLine(d.tool, err))
			return false
		}
	}
	return true
}

// withLine adds to the error of a path outside the directory the line that allows every
// path.
func withLine(t *tool.Tool, err error) error {
	if outside := (*confine.Error)(nil); !errors.As(err, &outside) {
		return err
	}
	block := "transport"
	if t.Template != nil {
		block = "tool"
	}
	return fmt.Errorf(`%w, or set paths = "any" in the %s block, which allows every path`, err, block)
}

// unlikelyPrefixes are texts that a pattern for arguments matches only by accident.
var unlikelyPrefixes = []string{"\uE000", "!", "~", ";"}

// admits reports whether a pattern allows a free argument. The pattern must name
// a leading dash explicitly: "-v|[a-z]+" admits -v, but ".*" does not admit
// --upload-pack=sh, although it matches. To find out, admits replaces the dash
// by each unlikely prefix. If the pattern still matches, it does not name the
// dash.
func admits(whole *regexp.Regexp, text string) bool {
	if !whole.MatchString(text) {
		return false
	}
	rest, dash := strings.CutPrefix(text, "-")
	if !dash {
		return true
	}
	for _, prefix := range unlikelyPrefixes {
		if whole.MatchString(prefix + rest) {
			return false
		}
	}
	return true
}
