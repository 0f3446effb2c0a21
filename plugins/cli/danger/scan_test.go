package danger

import (
	"regexp"
	"strings"
	"testing"
)

// scanned are texts in each language that a scanner must accept, and such that it must
// refuse.
var scanned = map[string]struct{ accept, refuse []string }{
	"awk": {
		accept: []string{
			`{print $1}`, `NR==1{print}`, `/alpha/{n++} END{print n}`, `BEGIN{FS=":"} $3 > 100 {print $1}`,
			`{s+=$1} END{printf "%d\n", s/NR}`, `{print ($1 > 2)}`, `!seen[$0]++`, `length($0) > 80`,
			`{gsub(/[0-9]+/, "#"); print}`, `$1 ~ /^a[[:alpha:]]*$/`, `{ if ($1 > 3) print $2; else print $1 }`,
			`{x = $1 / 2; x /= 2; print x}`, "# a comment\nBEGIN { print \"system(1) > file | cat\" }",
			`function f(a, b) { return a / b } { print f($1, $2) }`, `while ((getline line) > 0) n++`,
			`{for (i = NF; i > 0; i--) printf "%s ", $i; print ""}`, `/a\/b/`, `{print /x/ ? "y" : "n"}`,
			`{print substr($0, 1, 3) toupper($2)}`, `/a/ && !/b/ || $2 == "c"`,
			`{a[$1]=a[$1] "," $2} END{for (k in a) print k, a[k]}`, `BEGIN{printf("%s\n", 1.5e3 + .5)}`,
			`{split($0, p, /[,;]/); print p[1]}`, ``, `/"/`, `$0 = tolower($0)`,
		},
		refuse: []string{
			`BEGIN{system("id")}`, `BEGIN{"id" | getline}`, `{print | "sh"}`, `{print |& "sh"}`, `{print > "f"}`,
			`{print >> "f"}`, `{printf "x" > "f"}`, `{print (1)(2) > "f"}`, `{print $1, $2 > $3}`, `{getline < "f"}`,
			`{getline x < "f"}`, `{while ((getline l < "f") > 0) print l}`, `{getline a[1] < "f"}`,
			"{print a,\nb > \"f\"}", `BEGIN{ARGV[1]="/etc/passwd";ARGC=2}`, `BEGIN{print ENVIRON["HOME"]}`,
			`BEGIN{print SYMTAB["ENVIRON"]}`, `@include "x"`, `@load "x"`, `BEGIN{f="system";@f("id")}`,
			`BEGIN{awk::system("id")}`, `{if (x) /"/ ; system("id") #"}`, `{if (x) /"/ ; print > "f" #"}`,
			`{while (x) /a"/; getline < "f" #"`, "BEGIN{sys\\\ntem(\"id\")}", `/[/]/; BEGIN{system("id")} #]/`, `/[]/`,
			`/[[]/`, `/[\]/]/`, "/a\n/", "\"a\n\"", "\"a\\\n\"", "# a\\\nBEGIN{system(1)}", `"a`, `/a`, `(`, `)`,
			`{x = a++ / b; y = "/"}`, "{(a\n/\"/ system(\"x\") #\"/ 1)}", "{a[x\n/\"/ 1]}", `{print "a" / 2}`,
			"BEGIN{print 1}\x00", "\xff", `{extension("x")}`, `{bindtextdomain("/tmp")}`, `BEGIN{print 1e}`, "`id`",
			`{print >"/dev/stderr"}`, `{print > ("f")}`, `{(print > "f")}`, `/=/ { print > "x" }`, "{x=1\r}",
			`{print ENVIRON}`, `func f(ARGV) {}`, `{print a[b > "f"]}`,
		},
	},
	"jq": {
		accept: []string{
			`.`, `.env`, `.foo.env.PATH`, `.["env"]`, `{env: 1}`, `{"env": .x}`, `.spec.containers[] | {name, env}`,
			`"env import $ENV"`, `.a as {env: $x} | $x`, `.[] | select(.import == "x")`, `map(.a + 1) | add`,
			`"\(.name) is \(.count + 1)"`, `"a\("b\(.c)")"`, `# a comment with env` + "\n.", `.a?.env`,
			`reduce .[] as $x (0; . + $x)`, `limit(3; range(1; infinite))`, `@base64 "\(.x)"`, `@sh`,
			`. as [$a, $b] | {a: $a, b: $b}`, `if .a then .b else .c end`, `.[1:3]`, `..|numbers`, `1.5e3`,
			`.a//"none"`, `input_line_number`, `$__loc__`, `debug`, `to_entries|map("\(.key)=\(.value)")|join(",")`,
			`.environment`, `envelope`, `$environment`, `{a:1, import: 2}`, `.. .env`[3:], ``,
			`{a: (if .x then 1, 2 else 3 end), env: .y}`, `if .a then {env, b: 1} else {} end`, `def f(x): x + 1; f(2)`,
			`{if: 1, end: 2, def: 3}`, `{a: .end}`, `. as {a: $x, env: $y} | $x`, `{a: .b, env}`, `{a: $x, env}`,
			`{a: (.b | length), env}`, `{a: "\(.b | length)", env}`, `{"a", env}`,
			`{a: (if .x then 1, 2 else 3 end), env: .y}`, `{a: .b | length, env: .env}`, `. as $end | {env}`,
			`{$end, env}`, `$if`, `{a: 1, if: 2, env}`,
		},
		refuse: []string{
			`env`, `env.HOME`, `$ENV`, `$ENV.HOME`, `$ ENV`, `{$ENV}`, `{"a": env}`, `{a: env}`, `"\(env)"`,
			`"a\("b\($ENV)")"`, `[env]`, `..env`, `1.env`, `. env`, `import "a" as a; .`, `include "a"; .`,
			`"a"|modulemeta`, `get_search_list`, `$__prog_args`, `# \` + "\nenv", `# a\` + "\n.", `.a|env`,
			`{(env): 1}`, `{a: {b: env}}`, `[1, env]`, `{a: [1, env]}`, `{"\(env)": 1}`, `"`, `(`, `)`, `[}`, `"\(`,
			`a::env`, `env::a`, `'env'`, "`env`", "\x01", "\xff", `def env: 1;`, `.. | env`, `{a:1 , (env): 2}`,
			`.[env]`, `-env`, `(env)`, `{a:(env,1)}`, `{a: if true then 1, env, 2 else 3 end}`,
			`{a: if true then 1 else 2, env, 3 end}`, `{a: def f: 1, env, 2; f}`,
			`{a: if if true then 1 end then 1, env, 2 end}`, `{a: try error catch 1 | env, b}`,
			`{a: if true then . as $end | 1, env, 1 | . as $if | . else 3 end}`,
			`{a: if . as $end | 1, env, 1 | . as $if | 1 then 2 else 3 end}`,
			`{a: if true then . as $ end | 1, env, 2 | . as $ if | . else 3 end}`,
			`{a: if .end | 1, env, 2 then 1 else 2 end}`, `{a: if 1 then .end, env, 2 else .if end}`,
			`{a: def f: $end, env, 2; f}`, `{a: if 1 then . as [$end] | 1, env, 1 else . as $def | 2 end}`,
			`{a: if . == "end" then 1, env, 2 else 3 end}`, `{a: if {end: 1} then 1, env, 2 end}`,
			`{a: if 1 then {$end}, env, 2 end}`, `{a: reduce .[] as $x (0; 1) | 1, env}`, `{a: length, env}`,
			`{a: . as $x | if $x then . as $end | 1, env }`, `{a: label $end | 1, env, 2}`,
			`{a: 1 as $end | if 1 then 2, env else 3 end}`, `{a: if 1 then . as {end: $end} | 1, env, 1 else 3 end}`,
			`{env::a}`, `{a: 1} | env`, `"x" as $x | {env: env}`, strings.Repeat("(", 200), strings.Repeat(`"\(`, 200),
		},
	},
	"filters": {
		accept: []string{
			`scale=640:-2`, `scale=iw/2:-1`, `crop=100:100:0:0,fps=10`, `[0:v]scale=640:-2[a];[a][1:v]overlay=10:10`,
			`select='gt(scene\,0.4)'`, `[0:v][0:a]concat=n=1:v=1:a=1[v][a]`, `loudnorm`, `volume=0.5`, `atempo=1.5`,
			`drawbox=x=10:y=10:w=20:h=20:color=red@0.5:t=fill`, `scale='min(640,iw)':-2`,
			`split[a][b];[a]palettegen[p];[b][p]paletteuse`, `fade=t=in:st=0:d=1`, `pad=ceil(iw/2)*2:ceil(ih/2)*2`,
			`transpose=1`, `rotate=PI/4`, `scale@first=2:2`, `hflip , vflip`, `setpts=0.5*PTS`,
		},
		refuse: []string{
			`movie=/etc/passwd`, `movie=../x[a];[in][a]overlay`, `amovie=x`, `subtitles=/etc/passwd`, `ass=x`,
			`drawtext=textfile=/etc/passwd`, `drawtext=text=x`, `lut3d=file=/etc/passwd`, `lut3d=x`, `mo\vie=x`,
			`'movie'=x`, `scale=1:1,movie=x`, `scale=1:1;movie=x`, `[a]movie=x[b]`, `metadata=print:file=/tmp/x`,
			`sendcmd=f=x`, `loudnorm=stats_file=x`, `loudnorm=sta\ts_fi\le=x`, `loudnorm=stats_'fi'le=x`, `scale=/w=x`,
			`scale=w=1:/h=/etc/passwd`, `scale=w=/etc/passwd`, `scale=\/w=x`, `scale='/w'=x`, `frei0r=x`,
			`ladspa=file=x`, `zmq`, `azmq`, `sws_flags=x;scale=1:1`, `scale=1:1,`, ``, `,`, `;`, `[a]`, `scale='1`,
			`scale=1\`, `scale@=1`, `=x`, `curves=psfile=/etc/passwd`, `curves=plot=/tmp/x`, `psnr=stats_file=x`,
			`nosuch`, `[../x]scale=1:1`, `scale=1:1[a`, `SCALE=1:1`, "scale=1:1\x00", `select=print(1):script=x`,
		},
	},
}

func TestScanners(t *testing.T) {
	for name, texts := range scanned {
		for _, text := range texts.accept {
			if err := scanners[name](text); err != nil {
				t.Errorf("%s %q: %v", name, text, err)
			}
		}
		for _, text := range texts.refuse {
			if scanners[name](text) == nil {
				t.Errorf("%s %q was accepted", name, text)
			}
		}
		if scanners[name](strings.Repeat(" ", maxValue+1)) == nil {
			t.Errorf("%s: a long text was accepted", name)
		}
	}
}

func TestParseLanguagesRejectsInvalidLines(t *testing.T) {
	for _, text := range []string{"refuse x -- y", "language", "language a\nrefuse x y",
		"language a\nrefuse -- y", "language a\nother"} {
		if _, err := parseLanguages(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

// fuzzScanner checks that a scanner ends, and that it accepts no text in which a refused
// word stands alone.
func fuzzScanner(f *testing.F, name string, harmful func(text string) bool) {
	for _, text := range append(scanned[name].accept, scanned[name].refuse...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if scanners[name](text) == nil && harmful(text) {
			t.Errorf("%q was accepted", text)
		}
	})
}

// FuzzScanAwk checks accepted programs without strings, regular expressions and comments:
// none of them has a harmful word or a pipe.
func FuzzScanAwk(f *testing.F) {
	fuzzScanner(f, "awk", func(text string) bool {
		if strings.ContainsAny(text, "\"/#") {
			return false
		}
		return strings.Contains(strings.ReplaceAll(text, "||", ""), "|") || strings.ContainsAny(text, "@`\\") ||
			wordIn(text, languageOf("awk"))
	})
}

var (
	jqVariable = regexp.MustCompile(`\$\s*\w+`)
	jqInner    = regexp.MustCompile(`[({\[][^(){}\[\]]*[)}\]]`) // a bracket without another
	jqKeyword  = regexp.MustCompile(`\b(if|def|reduce|foreach|try|label|as)\b`)
	jqColon    = regexp.MustCompile(`\w+(\s*:)`)
	jqFirst    = regexp.MustCompile(`^\{\s*\w+(\s*[,}])`)
	jqOther    = regexp.MustCompile(`,\s*\w+\s*([,}])`)
)

// harmfulJQ reports whether a filter without strings, comments and fields has a harmful word
// that is no key of an object. In an object with a keyword, a word between commas is none.
func harmfulJQ(text string) bool {
	if wordIn(strings.Join(jqVariable.FindAllString(text, -1), " "),
		&language{refused: map[string]string{"ENV": "x", "__prog_args": "x"}}) {
		return true
	}
	text = jqVariable.ReplaceAllString(text, "$$")
	for at := jqInner.FindStringIndex(text); at != nil; at = jqInner.FindStringIndex(text) {
		inner := text[at[0]:at[1]]
		if inner[0] == '{' {
			inner = jqFirst.ReplaceAllString(jqColon.ReplaceAllString(inner, "${1}"), "${1}")
			for !jqKeyword.MatchString(inner) && jqOther.MatchString(inner) {
				inner = jqOther.ReplaceAllString(inner, "${1}")
			}
		}
		if wordIn(inner, languageOf("jq")) {
			return true
		}
		text = text[:at[0]] + " 0 " + text[at[1]:]
	}
	return wordIn(text, languageOf("jq"))
}

// FuzzScanJQ checks accepted filters without strings, comments and fields.
func FuzzScanJQ(f *testing.F) {
	fuzzScanner(f, "jq", func(text string) bool { return !strings.ContainsAny(text, "\"#.@") && harmfulJQ(text) })
}

// FuzzScanFilters checks that every name before an equals sign is in the table, in
// accepted graphs without labels, quotes and backslashes.
func FuzzScanFilters(f *testing.F) {
	fuzzScanner(f, "filters", func(text string) bool {
		if strings.ContainsAny(text, `[]'\@`) {
			return false
		}
		for one := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ';' }) {
			name, _, _ := strings.Cut(one, "=")
			if !languageOf("filters").allowed[strings.Trim(name, " \t\n")] {
				return true
			}
		}
		return false
	})
}

// wordIn reports whether a text has a refused word.
func wordIn(text string, l *language) bool {
	for word := range strings.FieldsFuncSeq(text,
		func(r rune) bool { return r > 0x7f || !letter(byte(r)) && !digit(byte(r)) }) {
		if l.refused[strings.TrimLeft(word, "0123456789")] != "" {
			return true
		}
	}
	return false
}
