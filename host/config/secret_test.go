package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/redact"
)

// TestDiagnosticsContainNoSecret puts a secret in places where it is an error, and
// searches for it in all diagnostics.
func TestDiagnosticsContainNoSecret(t *testing.T) {
	const canary = "CaNaRy-0815"
	server := func(body string) string {
		return "server \"a\" {\n  transport \"stdio\" {\n    command = [\"x\"]\n  }\n" + body + "\n}\n"
	}
	kitchen := func(body string) string {
		return "plugins {\n  required = { kitchen = { source = \"./kitchen\" } }\n}\nserver \"a\" {\n  transport \"kitchen\" {\n    url = \"x\"\n" +
			body + "\n  }\n}\n"
	}
	gateway := func(body string) string {
		return "gateway {\n  http {\n    auth \"static_token\" {\n      subject = \"a\"\n" + body + "\n    }\n  }\n}\n"
	}
	auth := func(body string) string {
		return "server \"a\" {\n  transport \"http\" {\n    url = \"x\"\n  }\n  auth \"bearer\" {\n" + body +
			"\n  }\n}\n"
	}
	store := func(body string) string {
		return "plugins {\n  required = { vault = { source = \"./vault\" } }\n}\nsecret_store \"vault\" {\n    address = \"x\"\n" +
			body + "\n}\n"
	}
	cases := map[string]string{
		"auth, in a list":          auth(`token = ["CANARY"]`),
		"auth, misspelt":           auth(`tokn = "CANARY"`),
		"auth, without quotes":     auth(`token = CANARY`),
		"auth, twice":              auth("token = \"a\"\n}\nauth \"oauth\" {\nclient_secret = \"CANARY\""),
		"auth, as a label":         "server \"a\" {\n  transport \"http\" {\n    url = \"x\"\n  }\n  auth \"oauth\" \"CANARY\" {\n  }\n}\n",
		"auth, as an attribute":    "server \"a\" {\n  transport \"http\" {\n    url = \"x\"\n  }\n  auth = \"CANARY\"\n}\n",
		"auth, from outside":       auth(`header = { a = env("SECRET") }`),
		"auth, of a program":       "server \"a\" {\n  transport \"stdio\" {\n    command = [\"x\"]\n  }\n  auth \"bearer\" {\n    token = \"CANARY\"\n  }\n}\n",
		"auth, of an unknown kind": "server \"a\" {\n  transport \"http\" {\n    url = \"x\"\n  }\n  auth \"beare\" {\n    token = \"CANARY\"\n  }\n}\n",
		"auth, beside a header": auth(
			"tokn = env(\"SECRET\")\n}\nidle = \"x\"\ntransport \"http\" {\nheaders = { Authorization = \"CANARY\" }",
		),
		"store, in a list":          store(`pin = ["CANARY"]`),
		"store, misspelt":           store(`pln = "CANARY"`),
		"store, a password":         "secret_store \"file\" {\n  password = \"CANARY\"\n}\n",
		"store, a descriptor":       "secret_store \"file\" {\n  password_fd = \"CANARY\"\n}\n",
		"keyring, no name":          kitchen(`token = keyring("CANARY !")`),
		"keyring, two names":        kitchen(`token = keyring("a", "CANARY")`),
		"keyring, from outside":     kitchen(`token = keyring(env("SECRET"))`),
		"keyring, beside a literal": kitchen(`token = upper("${keyring("a")}CANARY")`),
		"keyring, without quotes":   kitchen(`token = keyring(CANARY)`),
		"token with a space":        gateway(`token = "CANARY x"`),
		"token in a list":           gateway(`token = ["CANARY"]`),
		"token in an object":        gateway(`token = { a = "CANARY" }`),
		"token without quotes":      gateway(`token = CANARY`),
		"token, misspelt":           gateway(`tokne = "CANARY"`),
		"token from outside":        gateway(`token = " ${env("SECRET")}"`),
		"token, as a variable":      gateway(`token = env(env("SECRET"))`),
		"token as a subject":        gateway("token = \"CANARY\"\nsubject = \"CANARY\""),
		"token in a name":           gateway("token = \"CANARY\"\ntenant = env(\"SECRET\")"),
		"token too long":            gateway(`token = "CANARY${join("", [for i in range(1000) : "CANARY"])}"`),
		"token twice": gateway(
			"token = \"CANARY\"\n}\nauth \"static_token\" {\nsubject = \"b\"\ntoken = env(\"SECRET\")",
		),
		"token of no kind":           "gateway {\n  http {\n    auth \"bearer\" {\n      token = \"CANARY\"\n    }\n  }\n}\n",
		"token as an address":        withHTTP(`listen = env("SECRET")`),
		"login in an origin":         withHTTP(`origins = ["https://u:CANARY@x"]`),
		"login in a URL":             "server \"a\" {\n  transport \"stdio\" {\n    command = \"https://u:CANARY@x/\"\n  }\n}\n",
		"unknown attribute":          server(`tokn = "CANARY"`),
		"unknown block":              server("auht \"CANARY\" {\n x = \"CANARY\"\n}"),
		"unknown top-level block":    "tokens \"CANARY\" {\n}\n",
		"label too many":             "server \"a\" \"CANARY\" {\n}\n",
		"unknown setting":            kitchen(`tokenn = "CANARY"`),
		"unknown nested setting":     kitchen("tls {\n ca = \"x\"\n passwd = \"CANARY\"\n}"),
		"wrong type":                 kitchen(`token = ["CANARY"]`),
		"wrong type in a map":        kitchen(`headers = { Authorization = ["CANARY"] }`),
		"bad duration, sensitive":    kitchen(`grace = "CANARY"`),
		"beside an error":            kitchen("token = upper(\"CANARY\", 1)"),
		"argument of a function":     kitchen(`token = lookup({ a = 1 }.b, "CANARY", "CANARY")`),
		"number of a function":       kitchen(`token = tostring(tonumber("CANARY"))`),
		"index":                      kitchen(`token = { a = "CANARY" }["CANARY"]`),
		"duplicate key":              kitchen(`token = { for k in ["CANARY", "CANARY"] : k => "CANARY" }`),
		"duplicate key, changed":     kitchen(`token = { for k in ["CaNa", "CaNa"] : "${k}Ry-0815" => 1 }`),
		"format":                     kitchen(`token = format("CANARY %d", "CANARY")`),
		"base64":                     kitchen(`token = base64decode("CANARY")`),
		"json":                       kitchen(`token = jsondecode("CANARY")`),
		"in a string with others":    kitchen("token = \"Bearer CANARY ${oops}\""),
		"heredoc":                    kitchen("token = <<EOT\nCANARY ${oops}\nEOT"),
		"without quotes":             kitchen("token = CANARY"),
		"without quotes, dots":       kitchen("token = a.CANARY.b"),
		"without quotes, call":       kitchen("token = CANARY()"),
		"single quotes":              kitchen("token = 'CANARY'"),
		"open string":                kitchen("token = \"CANARY"),
		"syntax error after it":      kitchen("token = \"CANARY\" \"more\""),
		"syntax error before it":     kitchen("token = [ , \"CANARY\"]"),
		"comment beside an error":    kitchen("tokn = 1 # CANARY"),
		"comment beside a good name": server(`share = "x" // CANARY`),
		"twice":                      kitchen("token = \"a\"\ntoken = \"CANARY\""),
		"twice, other spelling":      kitchen("token = CANARY\ntoken = 'CANARY'"),
		"on one line":                server(`tools { token = "CANARY" x = 1 }`),
		"on one line, no quotes":     server(`tools { token = CANARY "CANARY" }`),
		"two indexes":                kitchen(`token = local.0.1["CANARY"]`),
		"escaped":                    kitchen(`token = tonumber("\"CANARY\"")`),
		"inside try":                 kitchen(`token = try(tonumber("CANARY"), tobool(upper("CANARY")))`),
		"part of a literal":          kitchen(`token = tonumber(split(",", "1,CANARY")[1])`),
		"name in a conversion":       kitchen(`token = tomap({ "CANARY" = 1, b = [] })`),
		"names of two objects":       kitchen(`token = true ? { "CANARY" = 1 } : { "CANARY" = [], b = 1 }`),
		"env inside try":             kitchen(`token = try(tonumber(env("SECRET")), {}["${env("SECRET")}"])`),
		"env in an operation":        kitchen(`token = 1 + env("SECRET")`),
		"conflict":                   kitchen("token = \"CANARY\"\nfile = \"x\""),
		"conflict on one line":       kitchen("headers = { token = \"CANARY\", Host = null }"),
		"local":                      "locals {\n a = upper(\"CANARY\", 1)\n}\n",
		"local's name is fine":       "locals {\n a = { password = \"CANARY\" }.passwort\n}\n",
		"pin":                        server("tool \"t\" {\n pin = [\"CANARY\"]\n}"),
		"pin twice":                  server("tool \"t\" {\n pin = { a = 1 }\n default = { a = \"CANARY\" }\n}"),
		"env in a prefix":            server(`prefix = env("SECRET")`),
		"env in a description":       server("tool \"t\" {\n description = \"${env(\"SECRET\")}\"\n}"),
		"env in a glob":              server("tools {\n allow = [env(\"SECRET\")]\n}"),
		"env in a choice":            server(`protocol = env("SECRET")`),
		"env in idle":                server(`idle = env("SECRET")`),
		"env in a timeout":           server("timeouts {\n call = env(\"SECRET\")\n}"),
		"env in a source":            `plugins { required = { kitchen = { source = env("SECRET") } } }`,
		"env as a name":              kitchen(`token = env(env("SECRET"))`),
		"env as a file":              kitchen(`token = file(env("SECRET"))`),
		"env as a choice":            kitchen(`mode = env("SECRET")`),
		"env as a number":            kitchen(`retries = env("SECRET")`),
		"env as an index":            kitchen(`url = { a = 1 }[env("SECRET")]`),
		"env as a key":               kitchen(`headers = { (env("SECRET")) = null }`),
		"env as a key of a map":      kitchen(`headers = { (env("SECRET")) = {} }`),
		"env in passed names":        kitchen(`vars = [env("SECRET")]`),
		"env in a lookup":            kitchen(`url = lookup({ a = 1 }, env("SECRET"))`),
		"env, changed":               kitchen(`wait = replace(env("SECRET"), "x", "y")`),
		"env as an enabled":          server(`enabled = env("SECRET")`),
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			fakeEnv["SECRET"] = canary
			defer delete(fakeEnv, "SECRET")
			text = strings.ReplaceAll(text, "CANARY", canary)
			c, ds := loadText(t, text)
			if c != nil || !ds.HasErrors() {
				t.Fatalf("accepted:\n%s", text)
			}
			asJSON, err := json.Marshal(ds)
			if err != nil {
				t.Fatal(err)
			}
			said := rendered(ds) + string(asJSON) + fmt.Sprintf("%+v %v", ds, ds.Err())
			if strings.Contains(strings.ToLower(said), strings.ToLower(canary)) {
				t.Errorf("the secret is in:\n%s", rendered(ds))
			}
		})
	}
}

func TestShownSettingsContainNoSecret(t *testing.T) {
	c, ds := loadText(t, `
plugins { required = { kitchen = { source = "./kitchen" } } }
locals { secret = "${env("API_TOKEN")}!" }
server "a" {
  transport "kitchen" {
    url     = "https://x?key=${local.secret}"
    token   = "hunter2"
    headers = { Authorization = "hunter2", Host = "x" }
    extra   = jsondecode(jsonencode({ deep = [local.secret] }))
    bag     = { list = [1, { t = local.secret }], password = ["hunter2"] }
    tls {
      ca   = "x"
      pass = "hunter2"
    }
  }
}
`)
	if c == nil {
		t.Fatal(rendered(ds))
	}
	transport := c.Servers[0].Transport
	want := `{"bag":{"list":[1,{"t":"(sensitive)"}],"password":["(sensitive)"]},"extra":"(sensitive)",` +
		`"headers":{"Authorization":"(sensitive)","Host":"x"},"tls":{"ca":"x","pass":"(sensitive)"},"token":"(sensitive)","url":"(sensitive)"}`
	if got := string(transport.Shown); got != want {
		t.Errorf("shown:\n%s\nwant:\n%s", got, want)
	}
	if n := strings.Count(string(transport.Settings), "s3cr3t-from-env!"); n != 3 {
		t.Errorf("the plugin gets the secret %d times: %s", n, transport.Settings)
	}
}

// TestDirectoriesOfTheUserAreShown: HOME and the like are no secrets, wherever their values
// are; other variables are, and so is a value that is no path.
func TestDirectoriesOfTheUserAreShown(t *testing.T) {
	for _, c := range []struct {
		name, value, text string
		masked            bool
	}{
		{"HOME", "/Users/ada-lovelace", `command = ["x", env("HOME")]`, false},
		{"HOME", "/Users/ada-lovelace", "command = [\"x\"]\n env = { A = env(\"HOME\") }", false},
		{"XDG_CONFIG_HOME", "/Users/ada-lovelace", "command = [\"x\"]\n env = { A = env(\"XDG_CONFIG_HOME\") }", false},
		{"HOME", "s3cr3t-value-of-home", `command = ["x", env("HOME")]`, true},
		{"MY_HOME", "/Users/ada-lovelace", `command = ["x", env("MY_HOME")]`, true},
		{"HOME_TOKEN", "/Users/ada-lovelace", "command = [\"x\"]\n env = { A = env(\"HOME_TOKEN\") }", true},
		{"HOME", "/Users/ada-lovelace", "command = [\"x\"]\n env = { A = \"${env(\"HOME\")}-s3cr3t\" }", false},
	} {
		l := newLoader(Options{Path: "junctor.hcl", Describe: fakeDescribe,
			Lookup: func(name string) (string, bool) { return c.value, name == c.name }})
		l.layers[0].keep(l.files.Add("junctor.hcl",
			[]byte("server \"a\" {\n transport \"stdio\" {\n"+c.text+"\n }\n}\n")))
		got, ds := l.load(t.Context())
		if ds.HasErrors() {
			t.Fatalf("%s: %s", c.text, rendered(ds))
		}
		if text := "Cannot access directory " + c.value + ", says the server"; strings.Contains(got.Conceal(text),
			redact.Mask) != c.masked {
			t.Errorf("%s: %s", c.text, got.Conceal(text))
		}
	}
	l := newLoader(Options{Path: "junctor.hcl", Describe: fakeDescribe,
		Lookup: func(name string) (string, bool) { return "/Users/ada-lovelace", name == "HOME" }})
	l.layers[0].keep(l.files.Add("junctor.hcl",
		[]byte("server \"a\" {\n transport \"stdio\" {\n command = [\"x\", file(\"${env(\"HOME\")}/none\")]\n }\n}\n")))
	if _, ds := l.load(t.Context()); !strings.Contains(rendered(ds),
		`cannot read the file "/Users/ada-lovelace/none"`) {
		t.Errorf("%s", rendered(ds))
	}
}
