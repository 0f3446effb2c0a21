package help

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

var (
	bracketDefault = regexp.MustCompile(`(?i)[\[(](?:the )?defaults?(?: value)?(?: is|:|=| to)?:?\s*("[^"]*"|'[^']*'|` +
		"`[^`]*`" + `|\[[^\]]*\]|[^()\[\]]*)[\])]`)
	plainDefault  = regexp.MustCompile(`(?i)\bdefault(?:s to| is| value is|:)\s+("[^"]*"|'[^']*'|[^\s,;()]+)`)
	envFallback   = regexp.MustCompile(`(?i)[\[(](?:env(?: var)?(?:ironment)?(?: variable)?\s*[:=]\s*\$?|\$)([A-Z_][A-Z0-9_]*)(?:=[^\])]*)?(?:,\s*\$?[A-Z_][A-Z0-9_]*)*[\])]`)
	listedChoices = regexp.MustCompile(`(?i)(?:possible (?:values|choices)|valid (?:values|choices|options)(?: are)?|allowed values(?: are)?|accepted values(?: are)?|choices|available (?:values|choices|formats)|(?:must|can|may|should) be (?:one of|either)|(?:^|[.;:] |\()one of)(?: the following)?(?: values| types| formats| options)?\s*[:=]?\s*`)
	requiredMark  = regexp.MustCompile(`(?i)[\[(]required[\]);,]|\b(?:this|it|option|flag|argument|parameter|always|[.,;]) (?:is )?required\.$|^\(?required[.:)\]]`)
	repeatedMark  = regexp.MustCompile(`(?i)can\s+specify\s+several\s+times|(?:can|may|could)\s+be\s+(?:repeated|(?:specified|given|used|set|provided|passed|supplied)\s+(?:multiple\s+times|more\s+than\s+once|several\s+times|repeatedly|many\s+times))|(?:specify|use|repeat|set|pass|give)\s+(?:this\s+(?:option|flag)\s+|it\s+)?(?:multiple\s+times|more\s+than\s+once|repeatedly)|multiple\s+(?:use|times|flags)\s+(?:is\s+|are\s+)?allowed|repeatable|can\s+use\s+this\s+option\s+multiple\s+times|may\s+be\s+repeated|option\s+is\s+additive|are\s+cumulative`)
	countedMark   = regexp.MustCompile(`(?i)-v{2,3}\b|-q{2,3}\b|-d{2,3}\b|\bincrease[s]?\b.{0,30}\bverbos|\bverbosity\b.{0,40}\b(?:repeat|times|each|multiple)|up to \d times|option is additive|\bmore verbose\b.{0,40}\b(?:repeat|times|twice)`)
)

// enrich adds what the description says about an option: a default, choices, an
// environment variable, and whether it is required or may be repeated.
func enrich(o *model.Option, desc string) {
	flat := strings.Join(strings.Fields(desc), " ")
	v := &o.Value
	if v.Kind == model.Bool && !v.Equals {
		if m := typeMark.FindStringSubmatch(desc); m != nil && m[1]+m[2] != "boolean" {
			v.Kind = model.String
			switch m[1] + m[2] {
			case "number":
				v.Kind = model.Number
			case "array", "list":
				v.Kind = model.List
			}
		}
	}
	if v.Kind == model.Bool && strings.Contains(desc, "[choices: ") && !strings.Contains(desc, "[boolean]") {
		v.Kind = model.String // yargs shows the choices and no value
	}
	if m := envFallback.FindStringSubmatch(flat); m != nil {
		o.Env = m[1]
	}
	if d := defaulted(flat); d != "" && v.Default == "" && (v.Kind.TakesValue() || d == "true" || d == "false") {
		v.Default = d
	}
	o.Required = o.Required || requiredMark.MatchString(flat)
	o.Repeatable = o.Repeatable || repeatedMark.MatchString(flat)
	if strings.EqualFold(v.Placeholder, "integer range") && o.Repeatable && quantity(o) {
		*v = model.Value{Kind: model.Count} // click
		return
	}
	if !v.Kind.TakesValue() {
		if o.Repeatable || countedMark.MatchString(flat) && quantity(o) {
			v.Kind, o.Repeatable = model.Count, true
		}
		return
	}
	if v.Kind == model.String && !strings.ContainsAny(v.Placeholder, "[]:=,") && !severalMark.MatchString(flat) {
		if c := listedValues(desc); c != nil {
			v.Kind, v.Choices = model.Enum, c
		}
	}
	if v.Kind == model.Integer && units.MatchString(flat) {
		v.Kind = model.String
	}
	if v.Kind == model.List || v.Kind == model.Map {
		o.Repeatable = true
	}
	fit(v)
}

var (
	// typeMark matches how some programs name the type of a value after or
	// below the description.
	typeMark = regexp.MustCompile(
		`(?m)\[(string|number|array|boolean)\]|^(?:type: (string|number|boolean|list)|one or more:|one of:)`,
	)
	defaultRemark = regexp.MustCompile(`\s\((?:the )?default[^()]*\)`)
)

// severalMark matches a remark that the value may be several of the listed ones.
var severalMark = regexp.MustCompile(`(?i)\bseparated? (?:them )?(?:with|by) commas\b`)

// units matches text that shows that a number has a unit, so it is not a plain
// number.
var units = regexp.MustCompile(
	`(?i)\bsuffix(es)?\b|\bunits?\b|\bpercent|\d[kmg]\b|\bMiB\b|\bor "?auto|\bleading '[-+]'|'[-+]'`,
)

// quantity reports whether an option is usually repeated, such as -v.
func quantity(o *model.Option) bool {
	for _, n := range o.Names {
		switch strings.TrimLeft(n, "-") {
		case "v", "q", "d", "verbose", "quiet", "debug", "vv", "verbosity":
			return true
		}
	}
	return false
}

// fit replaces a numeric kind by String if the default is not a number.
func fit(v *model.Value) {
	switch d := v.Default; {
	case d == "":
	case v.Kind == model.Integer:
		if _, err := strconv.ParseInt(d, 0, 64); err != nil && !strings.Contains(d, " ") {
			v.Kind = model.String
		}
	case v.Kind == model.Number:
		if _, err := strconv.ParseFloat(d, 64); err != nil && !strings.Contains(d, " ") {
			v.Kind = model.String
		}
	}
}

// defaulted returns the default that a description names.
func defaulted(flat string) string {
	if m := bracketDefault.FindStringSubmatch(flat); m != nil {
		return unquote(strings.TrimSpace(m[1]))
	}
	if m := plainDefault.FindStringSubmatch(flat); m != nil {
		d := unquote(strings.TrimRight(m[1], ".]"))
		if strings.HasPrefix(d, "-") && !integer(d) {
			return ""
		}
		switch strings.ToLower(d) {
		case "the", "a", "an", "it", "to", "is", "all", "use", "on", "off", "when", "if", "and", "in", "for", "this",
			"same", "false", "true", "your", "not", "whatever":
			if d != "true" && d != "false" && d != "all" && d != "on" && d != "off" {
				return ""
			}
		}
		return d
	}
	return ""
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'' || s[0] == '`') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// listedValues returns the choices that a description lists, or nil if it lists
// none or says that there are more.
func listedValues(desc string) []string {
	flat := strings.Join(strings.Fields(defaultRemark.ReplaceAllString(desc, " ")), " ")
	if at := listedChoices.FindStringIndex(flat); at != nil && (at[0] < 300 || flat[at[0]] == '[') {
		if c := listed(flat[at[1]:]); c != nil && !openEnded(c) {
			return c
		}
		if c := bulleted(desc); c != nil {
			return c
		}
	}
	if all := plainBullet.FindAllStringSubmatch(desc, 64); len(all) > 1 &&
		len(all) == len(anyBullet.FindAllString(desc, 65)) {
		var c []string
		for _, m := range all {
			c = append(c, m[1])
		}
		return distinct(c)
	}
	for _, m := range grouped.FindAllStringSubmatch(flat, 8) {
		if c := choices(m[1]); c != nil && strings.Contains(m[1], "|") {
			return c
		}
	}
	return nil
}

// openEnded reports whether some choices are only the start of a value. For
// example, jsonpath takes more text if jsonpath-file is a choice too.
func openEnded(choices []string) bool {
	return slices.ContainsFunc(choices, func(c string) bool { return slices.Contains(choices, c+"-file") })
}

var (
	grouped     = regexp.MustCompile(`[(\[{]("?[A-Za-z0-9_.+"-]+(?:\s?\|\s?"?[A-Za-z0-9_.+"-]+)+)[)\]}]`)
	plainBullet = regexp.MustCompile(`(?m)^[-*o] +([A-Za-z0-9_.+-]+)$`)
	anyBullet   = regexp.MustCompile(`(?m)^[-*o] +\S.*$`)
	bullet      = regexp.MustCompile(`(?m)^[-*]\s+([A-Za-z0-9_.+-]+)(?::|$|\s{2,}|\s+-)`)
)

// bulleted returns choices that are listed on separate lines.
func bulleted(desc string) []string {
	var all []string
	for _, m := range bullet.FindAllStringSubmatch(desc, 64) {
		all = append(all, m[1])
	}
	return distinct(all)
}

// listed parses "a, b or c", with or without brackets around it.
func listed(s string) []string {
	end := strings.IndexAny(s, ".;")
	for end >= 0 && end+1 < len(s) && s[end] == '.' && s[end+1] != ' ' {
		next := strings.IndexAny(s[end+1:], ".;")
		if next < 0 {
			end = -1
			break
		}
		end += next + 1
	}
	if s != "" && strings.IndexByte("([{", s[0]) >= 0 {
		shut := strings.IndexByte(s, map[byte]byte{'(': ')', '[': ']', '{': '}'}[s[0]])
		if shut < 0 {
			return nil
		}
		s = s[1:shut]
	} else {
		if shut := strings.IndexAny(s, "([)]"); shut >= 0 && (end < 0 || shut < end) {
			end = shut
		}
		if end >= 0 {
			s = s[:end]
		}
	}
	var all []string
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ',' || r == '|' }) {
		part = strings.TrimSpace(part)
		if strings.HasPrefix(strings.ToLower(part), "default") {
			break
		}
		for word := range strings.SplitSeq(part, " or ") {
			word = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(word), "or "), "and "))
			word = strings.Trim(word, `"'`+"`")
			if !choice(word) {
				return nil
			}
			all = append(all, word)
		}
	}
	if all = distinct(all); all == nil {
		return nil
	}
	for _, c := range all {
		if strings.EqualFold(c, "etc") || strings.EqualFold(c, "others") {
			return nil
		}
	}
	return all
}
