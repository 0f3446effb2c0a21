package invocation

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host/clientimport"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// Direct are the flags for a server that no configuration has. The verb writes them as the text of a
// configuration, which is loaded like any other.
type Direct struct {
	command, URL string
	server       ServerFlags
}

// DirectName is the name of the server.
const DirectName = "direct"

// DirectFlags adds the flags to a verb.
func DirectFlags(cmd *cobra.Command, d *Direct) {
	f := cmd.Flags()
	f.StringVar(&d.command, "command", "",
		"use the server that this `COMMAND` line starts, without any configuration; quotes and \\ as in a shell")
	f.StringVar(&d.URL, "url", "", "use the server at this `URL`, without any configuration")
	f.StringArrayVar(&d.server.Env, "env", nil,
		"`NAME=VALUE`, or NAME to pass on: a variable for --command; can be repeated")
	f.StringArrayVar(&d.server.Headers, "header", nil, "a `HEADER` for --url, as \"NAME: VALUE\"; can be repeated")
}

// Given reports whether the command line describes a server.
func (d *Direct) Given() bool {
	return d.command != "" || d.URL != "" || len(d.server.Env) > 0 || len(d.server.Headers) > 0
}

// title returns how messages call the server: by its URL without parts that may be secret, or by
// its program.
func (d *Direct) title() string {
	if d.URL == "" {
		program, err := shellquote.Split(d.command)
		if err != nil || len(program) == 0 {
			return "the server of --command"
		}
		return "the server " + filepath.Base(program[0])
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		return "the server of --url"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return "the server at " + shown.String()
}

// Titled puts the title of the server in the place of its name in a message. d is the server of
// the command line, if there is one.
func (d *Direct) Titled(text string) string {
	if name := fmt.Sprintf("server %q", DirectName); d.Given() && strings.Contains(text, name) {
		return strings.ReplaceAll(text, name, d.title())
	}
	return text
}

// Located gives a fault the place of the server on the command line: a line of its
// configuration says nothing.
func (d *Direct) Located(f *fault.Error) {
	if d.Given() && f.Server == DirectName {
		f.At = "--command"
		if d.URL != "" {
			f.At = "--url"
		}
		if f.Code == fault.UpstreamAuth { // there is no block that could have an auth block
			f.Hint = `the server does not accept the credentials; give them with --header "Authorization: Bearer TOKEN"`
		}
	}
}

// location returns a configuration with the server. file is the value of --config.
func (d *Direct) location(file string) (config.Location, error) {
	at := config.Location{Path: "--command"}
	words := []string{DirectName}
	dash := -1
	switch {
	case d.command != "" && d.URL != "":
		return at, fault.New(fault.Usage, "--command and --url are two servers").WithHint("omit one of them")
	case file != "":
		return at, fault.New(fault.Usage, "--config and a server on the command line are two configurations").
			WithHint("omit one of them")
	case d.command != "":
		program, err := shellquote.Split(d.command)
		if err != nil || len(program) == 0 || program[0] == "" {
			return at, fault.New(fault.Usage, "--command %q is not a command line", d.command).
				WithHint(`write --command 'PROGRAM ARGUMENT...', with spaces inside of an argument in quotes`)
		}
		words, dash = append(words, program...), 1
	case d.URL != "":
		at.Path, words = "--url", append(words, d.URL)
	default:
		return at, fault.New(fault.Usage, "--env and --header are for --command and --url")
	}
	if dash < 0 && !strings.Contains(d.URL, "://") {
		return at, fault.New(fault.Usage, "--url %q is not a URL", d.URL).WithHint("write --url https://HOST/PATH")
	}
	s, err := d.server.Server(words, dash)
	if err != nil {
		return at, err
	}
	at.Text = clientimport.Literal(s)
	return at, nil
}
