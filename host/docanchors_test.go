package host

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fencedText   = regexp.MustCompile("(?ms)^```.*?^```")
	headingLine  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	anchorID     = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	anchorLink   = regexp.MustCompile(`\]\(([^()\s#:]*)#([^()\s]+)\)`)
	notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchorsOf returns the anchors of a page as GitHub makes them.
func anchorsOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v", err)
		return nil
	}
	all := map[string]bool{}
	plain := fencedText.ReplaceAll(text, nil)
	for _, m := range headingLine.FindAllSubmatch(plain, -1) {
		title := notInAnchors.ReplaceAllString(strings.ToLower(string(m[1])), "")
		all[strings.ReplaceAll(title, " ", "-")] = true
	}
	for _, m := range anchorID.FindAllSubmatch(plain, -1) {
		all[string(m[1])] = true
	}
	return all
}

// TestLinksOfPagesHaveAnchors checks that a link to a part of a page leads to one.
func TestLinksOfPagesHaveAnchors(t *testing.T) {
	pages := []string{"../README.md", "../CHANGELOG.md", "../CONTRIBUTING.md"}
	for _, dir := range []string{"../docs", "../plugins", "../sdk", "../examples"} {
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".md") {
				pages = append(pages, path)
			}
			return err
		})
	}
	links := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range anchorLink.FindAllSubmatch(fencedText.ReplaceAll(text, nil), -1) {
			target := page
			if len(m[1]) > 0 {
				target = filepath.Join(filepath.Dir(page), string(m[1]))
			}
			if links++; !anchorsOf(t, target)[string(m[2])] {
				t.Errorf("%s: %s has no part #%s", page, target, m[2])
			}
		}
	}
	if links < 100 {
		t.Errorf("only %d links were found", links)
	}
}
