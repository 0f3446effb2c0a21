package plan

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// randomView returns a view of a few servers, principals and items, so that two of them
// have much in common.
func randomView(r *rand.Rand) *View {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	var servers []Server
	for _, name := range []string{"code", "files", "orders", "wiki"} {
		s := Server{Name: name, Enabled: r.IntN(5) > 0}
		if s.Enabled {
			s.Lists = pick(Known, Known, Known, Known, Partial, Unknown)
			s.Settings = map[string]string{"share": pick("1", "2"), "transport.url": pick("1", "2", "3")}
			s.Fingerprint = s.Settings["transport.url"]
		} else if r.IntN(2) == 0 {
			s.Blocked = "not listed"
		}
		if r.IntN(5) > 0 {
			servers = append(servers, s)
		}
	}
	var principals, rules []string
	for _, name := range []string{"everyone", "local", "role intern", "role admin", "group qa"} {
		if r.IntN(4) > 0 {
			principals = append(principals, name)
		}
		if r.IntN(2) > 0 {
			rules = append(rules, "allow for "+name)
		}
	}
	v := New(servers, principals, rules)
	for _, s := range v.Servers {
		if s.Lists != Known && s.Lists != Partial {
			continue
		}
		for _, kind := range []string{"prompt", "resource", "tool"} {
			for n := range 6 {
				if r.IntN(3) == 0 {
					continue
				}
				decided := Decisions{}
				for _, name := range principals {
					d := Decision{Decision: pick("allowed", Denied, "depends", "confirm"),
						Rule: "allow at junctor.hcl:" + pick("1", "2", "3")}
					if d.Decision == "confirm" {
						d.Approval = pick("by the client", "by an operator")
					}
					decided[name] = d
				}
				v.Add(Item{
					Server: s.Name, Kind: kind, Name: fmt.Sprint("item", n),
					Exposed: pick(s.Name+"__", "x__") + fmt.Sprint("item", n),
					Access:  pick("read", "write", "ambiguous"),
					Tokens:  r.IntN(3), Description: pick("a", "b"), Schema: pick("a", "b"), Entry: pick("a", "b"),
				}, decided)
			}
		}
	}
	return v
}

// TestDiffOfAViewWithItselfIsEmpty also holds for a view that came from a file, and for one
// whose rules have moved to other lines.
func TestDiffOfAViewWithItselfIsEmpty(t *testing.T) {
	for seed := range uint64(500) {
		a, b := randomView(rand.New(rand.NewPCG(seed, 1))), randomView(rand.New(rand.NewPCG(seed, 1)))
		if c := Diff(a, b); !c.Empty() {
			t.Fatalf("seed %d: %+v", seed, c)
		}
		read, err := Decode(a.Encode())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if c := Diff(read, b); !c.Empty() {
			t.Fatalf("seed %d: after Encode and Decode: %+v", seed, c)
		}
		if string(read.Encode()) != string(b.Encode()) {
			t.Fatalf("seed %d: another text for the same view", seed)
		}
		moved, err := Decode([]byte(strings.ReplaceAll(string(a.Encode()), "junctor.hcl:", "other/junctor.hcl:7")))
		if err != nil {
			t.Fatal(err)
		}
		if c := Diff(moved, b); !c.Empty() {
			t.Fatalf("seed %d: rules at other lines: %+v", seed, c)
		}
	}
}

// A sets is the content of a view that changes can be applied to.
type sets struct {
	servers   map[string]string // enabled and blocked
	rules     map[string]int
	items     map[[3]string][3]string         // exposed name, access, tokens
	decisions map[string]map[[3]string]string // by principal
	lists     map[listKey]listSize            // without empty ones
}

// setsOf returns the content of a view without the items of some servers.
func setsOf(v *View, skipped map[string]bool) sets {
	s := sets{servers: map[string]string{}, rules: map[string]int{}, items: map[[3]string][3]string{},
		decisions: map[string]map[[3]string]string{}, lists: map[listKey]listSize{}}
	for _, one := range v.Servers {
		s.servers[one.Name] = fmt.Sprint(one.Enabled, one.Blocked)
	}
	for _, one := range v.Rules {
		s.rules[one]++
	}
	for _, p := range v.Principals {
		s.decisions[p] = map[[3]string]string{}
	}
	for _, it := range v.Items {
		if skipped[it.Server] {
			continue
		}
		key := [3]string{it.Server, it.Kind, it.Name}
		s.items[key] = [3]string{it.Exposed, it.Access, fmt.Sprint(it.Tokens)}
		for p, d := range v.Decisions[it.Decided] {
			s.decisions[p][key] = d.Decision + d.Approval
			if d.Lists() {
				size := s.lists[listKey{p, it.Kind}]
				s.lists[listKey{p, it.Kind}] = listSize{size.items + 1, size.tokens + it.Tokens}
			}
		}
	}
	return s
}

// apply makes the changes.
func (s sets) apply(c *Changes) {
	for _, one := range c.Servers {
		delete(s.servers, one.Server)
		if one.Change != Removed {
			s.servers[one.Server] = fmt.Sprint(one.Enabled, one.Blocked)
		}
	}
	for _, one := range c.Rules {
		if one.Change == Added {
			s.rules[one.Rule]++
		} else if s.rules[one.Rule]--; s.rules[one.Rule] == 0 {
			delete(s.rules, one.Rule)
		}
	}
	for _, one := range c.Items {
		key := [3]string{one.Server, one.Kind, one.Item}
		delete(s.items, key)
		if one.Change != Removed {
			s.items[key] = [3]string{one.Name, one.AccessAfter, fmt.Sprint(one.TokensAfter)}
		}
	}
	for _, one := range c.Decisions {
		if one.Change == Added {
			s.decisions[one.Principal] = map[[3]string]string{}
		}
		for _, d := range one.Items {
			key := [3]string{d.Server, d.Kind, d.Item}
			delete(s.decisions[one.Principal], key)
			if d.After != nil {
				s.decisions[one.Principal][key] = d.After.Decision + d.After.Approval
			}
		}
		if one.Change == Removed {
			delete(s.decisions, one.Principal)
		}
	}
	for _, one := range c.Lists {
		delete(s.lists, listKey{one.Principal, one.Kind})
		if one.ItemsAfter > 0 {
			s.lists[listKey{one.Principal, one.Kind}] = listSize{one.ItemsAfter, one.TokensAfter}
		}
	}
}

// TestChangesLeadFromOneViewToTheOther applies the changes between random views to the
// first one. The items of servers that were not asked are left out.
func TestChangesLeadFromOneViewToTheOther(t *testing.T) {
	for seed := range uint64(2000) {
		a, b := randomView(rand.New(rand.NewPCG(seed, 2))), randomView(rand.New(rand.NewPCG(seed, 3)))
		c := Diff(a, b)
		skipped := map[string]bool{}
		for _, n := range c.NotAsked {
			skipped[n.Server] = true
		}
		got, want := setsOf(a, skipped), setsOf(b, skipped)
		same := reflect.DeepEqual(got, want)
		if c.Empty() && !same {
			t.Fatalf("seed %d: no changes between %+v and %+v", seed, got, want)
		}
		got.apply(c)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: the changes lead to\n%+v, want\n%+v", seed, got, want)
		}
	}
}

// view returns a view of one server with tools.
func view(t *testing.T, change func(s *Server), items ...Item) *View {
	t.Helper()
	s := Server{Name: "code", Enabled: true, Lists: Known, Fingerprint: "f",
		Settings: map[string]string{"share": "s", "transport.url": "u"}}
	if change != nil {
		change(&s)
	}
	v := New([]Server{s}, []string{"local"}, nil)
	for _, it := range items {
		it.Server, it.Kind = "code", "tool"
		v.Add(it, Decisions{"local": {Decision: "allowed", Rule: "r"}})
	}
	return v
}

func TestDiffNamesHowAnItemChanged(t *testing.T) {
	base := Item{Name: "get", Exposed: "code__get", Access: "read", Tokens: 5, Description: "d",
		Schema: "s", Entry: "e"}
	edit := func(change func(it *Item)) Item { it := base; change(&it); return it }
	for _, test := range []struct {
		name   string
		before []Item
		after  []Item
		want   ItemChange
	}{
		{"renamed", []Item{base}, []Item{edit(func(it *Item) { it.Exposed = "code__fetch" })},
			ItemChange{Name: "code__fetch", Change: Changed, RenamedFrom: "code__get", AccessBefore: "read",
				AccessAfter: "read", TokensBefore: 5, TokensAfter: 5}},
		{"schema", []Item{base}, []Item{edit(func(it *Item) { it.Schema, it.Entry = "x", "x" })},
			ItemChange{Name: "code__get", Change: Changed, Schema: true, AccessBefore: "read", AccessAfter: "read",
				TokensBefore: 5, TokensAfter: 5}},
		{"description",
			[]Item{base}, []Item{edit(func(it *Item) { it.Description, it.Entry, it.Tokens = "x", "x", 9 })},
			ItemChange{Name: "code__get", Change: Changed, Description: true, AccessBefore: "read", AccessAfter: "read",
				TokensBefore: 5, TokensAfter: 9}},
		{"annotations", []Item{base}, []Item{edit(func(it *Item) { it.Entry = "x" })}, ItemChange{Name: "code__get",
			Change: Changed, Other: true, AccessBefore: "read", AccessAfter: "read", TokensBefore: 5, TokensAfter: 5}},
		{"writes", []Item{base}, []Item{edit(func(it *Item) { it.Access = "ambiguous" })},
			ItemChange{Name: "code__get", Change: Changed, AccessBefore: "read", AccessAfter: "ambiguous",
				NewlyWrites: true, TokensBefore: 5, TokensAfter: 5}},
		{"new", nil, []Item{edit(func(it *Item) { it.Access = "write" })},
			ItemChange{Name: "code__get", Change: Added, AccessAfter: "write", NewlyWrites: true, TokensAfter: 5}},
		{"gone",
			[]Item{base}, nil, ItemChange{Name: "code__get", Change: Removed, AccessBefore: "read", TokensBefore: 5}},
	} {
		test.want.Server, test.want.Kind, test.want.Item = "code", "tool", "get"
		c := Diff(view(t, nil, test.before...), view(t, nil, test.after...))
		if len(c.Items) != 1 || c.Items[0] != test.want || c.Empty() {
			t.Errorf("%s: %+v, want %+v", test.name, c.Items, test.want)
		}
	}
}

func TestDiffNamesChangedSettings(t *testing.T) {
	before := view(t, nil)
	for _, test := range []struct {
		name   string
		change func(s *Server)
		want   []string
	}{
		{"value", func(s *Server) { s.Settings["transport.url"] = "x" }, []string{"transport.url"}},
		{"new", func(s *Server) { s.Settings["auth"] = "x" }, []string{"auth"}},
		{"gone", func(s *Server) { delete(s.Settings, "share") }, []string{"share"}},
		{"connection", func(s *Server) { s.Fingerprint = "x" }, nil},
		{"disabled", func(s *Server) { *s = Server{Name: "code"} }, []string{"enabled"}},
		{"blocked", func(s *Server) { *s = Server{Name: "code", Blocked: "not listed"} }, []string{"enabled"}},
	} {
		c := Diff(before, view(t, test.change))
		if len(c.Servers) != 1 || !slices.Equal(c.Servers[0].Settings, test.want) || c.Servers[0].Change != Changed ||
			c.Servers[0].Connection != (test.name == "connection") {
			t.Errorf("%s: %+v, want %q", test.name, c.Servers, test.want)
		}
	}
}

// TestListsThatOnlyOneViewHasAreADifference: a comparison in CI must not pass because there
// was nothing to compare.
func TestListsThatOnlyOneViewHasAreADifference(t *testing.T) {
	known, unknown := view(t, nil, Item{Name: "get"}), view(t, func(s *Server) { s.Lists = Unknown })
	for name, c := range map[string]*Changes{"after": Diff(known, unknown), "before": Diff(unknown, known)} {
		if c.Empty() || len(c.Items) > 0 || len(c.Lists) > 0 || len(c.NotAsked) != 1 {
			t.Errorf("unknown %s: %+v", name, c)
		}
	}
	if c := Diff(unknown, unknown); !c.Empty() || len(c.NotAsked) != 1 {
		t.Errorf("unknown in both: %+v", c)
	}
	gone := New(nil, []string{"local"}, nil)
	if c := Diff(known, gone); len(c.Items) != 1 || c.Items[0].Change != Removed || len(c.NotAsked) != 0 {
		t.Errorf("a removed server: %+v", c)
	}
}

// TestLargestViewHasALimit fills a view and compares it with one that lacks an item. The
// items that one of them left out are not reported as removed.
func TestLargestViewHasALimit(t *testing.T) {
	full := func(skip int) *View {
		v := New([]Server{{Name: "code", Enabled: true, Lists: Known}}, []string{"everyone", "local"}, nil)
		for n := range MaxItems + 10 {
			if n == skip {
				continue
			}
			if !v.Fits() {
				v.LeftOut++
				continue
			}
			v.Add(Item{Server: "code", Kind: "tool", Name: fmt.Sprintf("tool%06d", n),
				Exposed: fmt.Sprintf("code__tool%06d", n), Access: "read", Description: DigestOf(nil),
				Schema: DigestOf(nil), Entry: DigestOf(nil)},
				Decisions{"everyone": {Decision: Denied, Rule: "r"}, "local": {Decision: "allowed", Rule: "r"}})
		}
		return v
	}
	a, b := full(-1), full(7)
	if a.LeftOut != 10 || len(a.Items) != MaxItems {
		t.Fatalf("%d items, %d left out", len(a.Items), a.LeftOut)
	}
	c := Diff(a, b)
	if Diff(a, a).Empty() {
		t.Error("items that were left out could not be compared, so the views may differ")
	}
	if len(c.Items) != 1 || c.Items[0].Item != "tool000007" || c.LeftOut != 10 {
		t.Errorf("%d changes, the first %+v; %d left out", len(c.Items), c.Items[0], c.LeftOut)
	}
	text, err := json.Marshal(a)
	if err != nil || len(text) > MaxBytes {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, err := Decode(text); err != nil {
		t.Error(err)
	}
}

// TestViewFitsItsBytes adds items with the longest names until none fits.
func TestViewFitsItsBytes(t *testing.T) {
	v := New([]Server{{Name: "code", Enabled: true, Lists: Known}}, []string{"local"}, nil)
	for n := 0; v.Fits(); n++ {
		v.Add(Item{Server: "code", Kind: "resource", Name: fmt.Sprintf("%05d", n) + strings.Repeat("\x01", 1000)},
			Decisions{"local": {Decision: "allowed", Rule: fmt.Sprint(n)}})
	}
	if text, _ := json.Marshal(v); len(text) > MaxBytes || len(v.Items) == MaxItems {
		t.Errorf("%d bytes for %d items", len(text), len(v.Items))
	}
	many := New(nil, make([]string, 2048), nil)
	for many.Fits() {
		many.Items = append(many.Items, Item{})
	}
	if cells := len(many.Items) * 2048; cells > MaxCells {
		t.Errorf("%d decisions", cells)
	}
}

// TestKeysOfDecisionsSurviveMovedRules: only the decisions name lines, and decisions that
// differ in lines only stay apart.
func TestKeysOfDecisionsSurviveMovedRules(t *testing.T) {
	views := func(lines ...int) *View {
		v := New([]Server{{Name: "code", Enabled: true, Lists: Known}}, []string{"local"}, nil)
		for n, line := range lines {
			v.Add(Item{Server: "code", Kind: "tool", Name: fmt.Sprint(n)},
				Decisions{"local": {Decision: "allowed", Rule: fmt.Sprintf("allow at junctor.hcl:%d:3", line)}})
		}
		return v
	}
	a, b := views(10, 20, 10), views(11, 21, 11)
	if !slices.Equal(a.Items, b.Items) {
		t.Errorf("%+v, after the rules moved %+v", a.Items, b.Items)
	}
	if len(a.Decisions) != 2 || a.Items[0].Decided == a.Items[1].Decided || a.Items[0].Decided != a.Items[2].Decided ||
		a.Decisions[a.Items[1].Decided]["local"].Rule != "allow at junctor.hcl:20:3" {
		t.Errorf("%+v, %+v", a.Decisions, a.Items)
	}
}

func TestDecodeRefuses(t *testing.T) {
	item := `{"server":"a","kind":"tool","item":"x","decided":"d"}`
	for name, text := range map[string]string{
		"nothing":               ``,
		"no object":             `[]`,
		"not a view":            `{"servers":[]}`,
		"two documents":         `{"junctor_view":1}{}`,
		"another format":        `{"junctor_view":2}`,
		"servers not sorted":    `{"junctor_view":1,"servers":[{"server":"b"},{"server":"a"}]}`,
		"a server twice":        `{"junctor_view":1,"servers":[{"server":"a"},{"server":"a"}]}`,
		"principals not sorted": `{"junctor_view":1,"principals":["b","a"]}`,
		"rules not sorted":      `{"junctor_view":1,"rules":["b","a"]}`,
		"an item twice": `{"junctor_view":1,"servers":[{"server":"a"}],"decisions":{"d":{}},"items":[` + item +
			`,` + item + `]}`,
		"an unknown server":    `{"junctor_view":1,"decisions":{"d":{}},"items":[` + item + `]}`,
		"no decisions":         `{"junctor_view":1,"servers":[{"server":"a"}],"items":[` + item + `]}`,
		"an unknown principal": `{"junctor_view":1,"decisions":{"d":{"local":{"decision":"allowed"}}}}`,
		"left out":             `{"junctor_view":1,"left_out":-1}`,
		"wrong type":           `{"junctor_view":"1"}`,
	} {
		if v, err := Decode([]byte(text)); err == nil {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if _, err := Decode([]byte(`{"junctor_view":1,"servers":[{"server":"a"}],"decisions":{"d":{}},"items":[` + item +
		`],"later":1}`)); err != nil {
		t.Errorf("a view with an unknown member: %v", err)
	}
}

// FuzzDecode: a view that Decode accepts can be compared with itself and with another one.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"junctor_view":1}`))
	f.Add(randomView(rand.New(rand.NewPCG(1, 1))).Encode())
	other := randomView(rand.New(rand.NewPCG(2, 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Decode(text)
		if err != nil {
			return
		}
		if c := Diff(v, v); !c.Empty() {
			t.Errorf("%+v", c)
		}
		Diff(v, other)
		Diff(other, v)
		if _, err := Decode(v.Encode()); err != nil {
			t.Error(err)
		}
	})
}
