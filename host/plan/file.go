package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Encode returns the JSON form of a view, for a file under version control: one line for each
// member, and the same text for the same view.
func (v *View) Encode() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(err) // impossible: texts and numbers
	}
	return b.Bytes()
}

// Decode reads the JSON form of a view and checks it. It refuses a view that Diff could
// misread: another format, lists that are not sorted, and items without decisions. The result is
// from a file: it may be of another version.
func Decode(text []byte) (*View, error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("it is larger than %d MiB", MaxFile>>20)
	}
	var v View
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("it is not JSON that junctor plan --out wrote: %w", err)
	}
	return &v, v.Check()
}

// Check returns an error for a view that Diff could misread.
func (v *View) Check() error {
	switch {
	case v.Format == 0:
		return errors.New(`it is not the output of junctor plan --out: there is no "junctor_view"`)
	case v.Format != Format:
		return fmt.Errorf("it has the format %d, and this version of Junctor reads format %d", v.Format, Format)
	case len(v.Items) > MaxItems:
		return fmt.Errorf("it has more than %d items", MaxItems)
	case v.LeftOut < 0:
		return errors.New("left_out is negative")
	case !sorted(v.Servers, compareServers):
		return errors.New("its servers are not sorted, or one is there twice")
	case !sorted(v.Principals, strings.Compare):
		return errors.New("its principals are not sorted, or one is there twice")
	case !slices.IsSorted(v.Rules):
		return errors.New("its rules are not sorted")
	case !sorted(v.Items, CompareItems):
		return errors.New("its items are not sorted, or one is there twice")
	}
	return v.checkItems()
}

// checkItems checks that items name servers and decisions of the view.
func (v *View) checkItems() error {
	for key, of := range v.Decisions {
		for who := range of {
			if _, ok := slices.BinarySearch(v.Principals, who); !ok {
				return fmt.Errorf("decisions %.40q are about %.80q, which is no principal of it", key, who)
			}
		}
	}
	for _, it := range v.Items {
		if _, ok := v.server(it.Server); !ok {
			return fmt.Errorf("%s %.80q is of the server %.80q, which it does not have", it.Kind, it.Name, it.Server)
		}
		if _, ok := v.Decisions[it.Decided]; !ok {
			return fmt.Errorf("%s %.80q of server %.80q has no decisions", it.Kind, it.Name, it.Server)
		}
	}
	return nil
}

// server returns a server by name.
func (v *View) server(name string) (Server, bool) {
	i, ok := slices.BinarySearchFunc(v.Servers, name,
		func(s Server, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return Server{}, false
	}
	return v.Servers[i], true
}

// sorted reports whether a list is in ascending order, without equal elements.
func sorted[T any](list []T, compare func(a, b T) int) bool {
	for i := 1; i < len(list); i++ {
		if compare(list[i-1], list[i]) >= 0 {
			return false
		}
	}
	return true
}
