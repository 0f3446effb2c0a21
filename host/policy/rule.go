package policy

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/condition"
)

// A rule is a Rule with its holder as a number. It is immutable after compile.
type rule struct {
	Rule
	holder int    // number of the holder; -1: everyone
	text   string // what decisions cite
}

// compile sorts rules by effect. New and Under call it.
func (p *Policy) compile(all []Rule) []*rule {
	var rules []*rule
	for _, one := range all {
		r := &rule{Rule: one, holder: p.members.number(one.Holder), text: one.Effect.String()}
		if one.Name != "" {
			r.text += fmt.Sprintf(" %q", one.Name)
		}
		r.text += " at " + one.At
		if one.Holder != (Holder{}) {
			r.text += " for " + one.Holder.String()
		}
		if r.Effect == Confirms {
			r.Approval.Rule = r.identity()
		}
		rules = append(rules, r)
	}
	slices.SortStableFunc(rules, func(a, b *rule) int {
		return cmp.Or(int(a.Effect)-int(b.Effect), a.Approval.stricterThan(&b.Approval))
	})
	return rules
}

// Recorded returns the text of a rule for records, with its places shortened as by place.
func Recorded(rule string) string {
	var b strings.Builder
	for {
		before, at, found := strings.Cut(rule, " at "+string(filepath.Separator))
		b.WriteString(before)
		if !found {
			return b.String()
		}
		at = string(filepath.Separator) + at
		end := strings.IndexByte(at, ':')
		if end < 0 {
			return b.String() + " at " + at
		}
		b.WriteString(" at " + place(at[:end]))
		rule = at[end:]
	}
}

// place returns a place in a configuration as records have it: of an absolute path the file
// and its directory. The rest differs between machines, and is too long for a column.
func place(at string) string {
	if !filepath.IsAbs(at) {
		return at
	}
	return filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(at)), filepath.Base(at)))
}

// identity returns what makes a rule the same one after a change elsewhere in the file.
func (r *rule) identity() string {
	when := ""
	if r.When != nil {
		when = r.When.Source
	}
	return fmt.Sprintf("%q %q %q %q %q %q %q %q %q %t %q %q", r.Holder.Kind, r.Holder.Name, r.Holder.Tenant,
		r.Holder.Issuer, r.Servers, r.Tools, r.Resources, r.Prompts, r.Access, r.Approval.ByClient, r.Approval.Covers,
		when) + r.Approval.Four.Print()
}

// matchesItem returns why the rule is not about an item, or "" if it is. It ignores who
// uses the item.
func (r *rule) matchesItem(item Item, access Access, strict bool) (why string) {
	switch {
	case r.Servers != nil && !anyLike(r.Servers, item.Server):
		return "is about other servers"
	case !r.kinds(item.Kind):
		return fmt.Sprintf("is not about a %s", item.Kind)
	case !r.names(item):
		return fmt.Sprintf("is about other %ss", item.Kind)
	case !r.access(item, access, strict):
		return fmt.Sprintf("is about tools that %s, and this one is %s", r.Access, accessOf(item, access))
	}
	return ""
}

// kinds reports whether the rule is about a kind of item.
func (r *rule) kinds(k Kind) bool {
	if r.Tools == nil && r.Resources == nil && r.Prompts == nil {
		return k == Tool || r.When == nil || !r.When.UsesArguments()
	}
	switch k {
	case Tool:
		return r.Tools != nil
	case Prompt:
		return r.Prompts != nil
	}
	return r.Resources != nil
}

func (r *rule) names(item Item) bool {
	var globs []string
	switch item.Kind {
	case Tool:
		globs = r.Tools
	case Prompt:
		globs = r.Prompts
	case Resource:
		globs = r.Resources
	case Template:
		return r.Resources == nil || slices.ContainsFunc(r.Resources, r.coversTemplate(item.Name))
	}
	if item.Kind == Resource {
		return globs == nil || slices.ContainsFunc(globs, func(glob string) bool {
			if r.Effect == Allows {
				return condition.LikeURI(item.Name, glob)
			}
			return condition.LikeAnyURI(item.Name, glob)
		})
	}
	return globs == nil || anyLike(globs, item.Name)
}

// coversTemplate returns whether a glob is about a template. A rule that denies is if the
// glob matches all URIs of the template, and any other rule if it matches one.
func (r *rule) coversTemplate(template string) func(glob string) bool {
	uris := templateGlob(template)
	if r.Effect == Denies {
		return func(glob string) bool { return condition.Like(uris, glob) } // '*' is matched by '*' only
	}
	return func(glob string) bool { return condition.Overlap(glob, uris) }
}

// templateGlob returns a glob that matches every expansion of a URI template.
func templateGlob(template string) string {
	var b strings.Builder
	for template != "" {
		fixed, rest, variable := strings.Cut(template, "{")
		b.WriteString(fixed)
		if !variable {
			break
		}
		b.WriteByte('*')
		_, template, _ = strings.Cut(rest, "}")
	}
	return b.String()
}

func (r *rule) access(item Item, access Access, strict bool) bool {
	switch has := accessOf(item, access); {
	case r.Access == Ambiguous || r.Access == has:
		return true
	case r.Access == Write && has == Ambiguous:
		// A rule that denies or confirms writing is about a tool that may write.
		return !strict || r.Effect != Allows
	case r.Access == Read && has == Ambiguous && strict:
		// The same for reading, but a rule that confirms may allow what is denied without it.
		return r.Effect == Denies || r.Tightens
	}
	return false
}

func accessOf(item Item, access Access) Access {
	if item.Kind != Tool {
		return Read
	}
	return access
}

func anyLike(globs []string, name string) bool {
	for _, g := range globs {
		if condition.Like(name, g) {
			return true
		}
	}
	return false
}

type planKey struct {
	item   Item
	access Access
}

// maxPlans bounds the items whose rules are remembered. Clients choose URIs.
const maxPlans = 10_000

// plan returns the rules about an item, by effect.
func (p *Policy) plan(item Item, access Access) []*rule {
	key := planKey{item, access}
	p.mu.RLock()
	plan, known := p.plans[key]
	p.mu.RUnlock()
	if known {
		return plan
	}
	for _, r := range p.rules {
		if r.matchesItem(item, access, p.strict) == "" {
			plan = append(plan, r)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.plans) >= maxPlans {
		clear(p.plans)
	}
	key.item.Name = strings.Clone(item.Name) // it may be part of a message
	p.plans[key] = plan
	return plan
}
