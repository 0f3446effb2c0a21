package clientimport

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// command writes a command line. The variables of pass are those that its programs read
// themselves. block.go calls it for the command of a server.
func (c *converter) command(words []string) string {
	all := make([]string, 0, len(words))
	for i, word := range words {
		c.where = fmt.Sprintf("args.%d", i)
		c.script = isScript(words, i)
		c.inArgs = i > 0
		all = append(all, c.argument(words, i, word))
	}
	c.script, c.inArgs = false, false
	return "[" + strings.Join(all, ", ") + "]"
}

// shells are programs whose argument after -c is a script.
var shells = []string{"sh", "bash", "zsh", "dash", "ksh", "ash", "fish"}

// shellOption matches options that end in c, such as -c and -lc.
var shellOption = lazyregexp.New(`^-[a-z]*c$`)

// program returns the name of a program without its directory.
func program(word string) string {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(strings.ReplaceAll(word, `\`, "/"))), ".exe")
}

// isScript reports whether a word is a script that the server's own shell reads.
func isScript(words []string, i int) bool {
	return i > 1 && shellOption.MatchString(words[i-1]) && slices.Contains(shells, program(words[0]))
}

// isRemote reports whether a command starts mcp-remote, which replaces ${VAR} in its headers.
func isRemote(words []string) bool {
	return slices.ContainsFunc(words,
		func(word string) bool { return word == "mcp-remote" || strings.HasPrefix(word, "mcp-remote@") })
}

// left reports whether a reference to a variable is left to the program: env gives the
// variable to it, or it is a shell or mcp-remote, which read their environment.
func (c *converter) left(name, whole string) bool {
	if !c.inArgs {
		return false
	}
	value, has := c.server.Env[name]
	itself := has && strings.Contains(value, whole)
	switch {
	case has && !itself && !c.script:
		c.note("%s leaves %s to the program, which has it from env", c.where, whole)
		return true
	case has:
		return c.script || !itself || isRemote(c.server.Command)
	case c.script, isRemote(c.server.Command):
		c.pass(name)
		return true
	}
	return false
}

// given are the variables that every program has.
var given = []string{"HOME", "PATH", "USER", "SHELL", "TERM", "PWD", "TMPDIR"}

// pass passes a variable to the program from junctor's environment, unless its script sets it.
func (c *converter) pass(name string) {
	if slices.Contains(given, name) || slices.Contains(c.passed, name) || slices.Contains(c.server.PassEnv, name) {
		return
	}
	if c.script {
		for _, word := range c.server.Command {
			if at := strings.Index(word, name+"="); at >= 0 && (at == 0 || !isWordByte(word[at-1])) {
				return
			}
		}
	} else {
		_ = c.needs.variable(name) // without it the program cannot work
	}
	c.passed = append(c.passed, name)
}

// userPassword matches a name and a password, but not the numbers of a user and a group.
var userPassword = lazyregexp.New(`^[^:/\s\x00]+:[^:/\s\x00]*[^0-9:/\s\x00][^:/\s\x00]*$`)

// argument writes an argument of a program. One after a flag whose name is that of a
// secret is one, as is the value in --token=VALUE and in TOKEN=VALUE after -e.
func (c *converter) argument(command []string, i int, word string) string {
	s := c.scan(word)
	if i == 0 {
		return c.write(s, nil, c.where)
	}
	if whole, ok := assigned(s.text); ok {
		return c.write(s, []span{whole}, c.where)
	}
	before := command[i-1]
	flag := strings.TrimLeft(before, "-")
	switch {
	case (before == "-u" || before == "--user") && userPassword.MatchString(s.text):
		return c.write(s, []span{{to: len(s.text), name: "user"}}, "args."+before)
	case i > 1 && flag != before && !strings.HasPrefix(word, "-") && !strings.Contains(before, "=") &&
		!shellOption.MatchString(before):
		if isURL(s.text) {
			return c.write(s, inURL(s.text), "args."+before)
		}
		if isSecret(flag, s.text) {
			return c.option("args."+before, flag, s)
		}
		if parts := besideReferences(flag, s.text); parts != nil {
			return c.write(s, parts, "args."+before)
		}
	case isURL(s.text):
		return c.write(s, inURL(s.text), "url")
	}
	secrets := c.inText(s.text)
	if name, value, ok := strings.Cut(s.text, "="); ok {
		for _, part := range besideReferences(strings.TrimLeft(name, "-"), value) {
			part.from, part.to = part.from+len(name)+1, part.to+len(name)+1
			secrets = append(secrets, part)
		}
		secrets = withoutOverlap(secrets)
	}
	where := c.where
	if len(secrets) == 1 && identifier.MatchString(secrets[0].name) {
		where = "args." + secrets[0].name
	}
	return c.write(s, secrets, where)
}

// option writes the value of an option: as a whole if its name is that of a secret, else
// without the secrets in it.
func (c *converter) option(where, name string, s scanned) string {
	inner := secretsIn(s.text)
	if sounds(name) || len(inner) == 0 {
		inner = []span{wholeSecret(name, s.text)}
	}
	return c.write(s, inner, where)
}

// assigned returns the secret in a word NAME=VALUE, --NAME=VALUE, --env=NAME=VALUE or
// NAME:VALUE, where it is all that follows.
func assigned(word string) (span, bool) {
	for at := 0; ; {
		name, value, ok := strings.Cut(word[at:], "=")
		bare := strings.TrimLeft(name, "-")
		if !ok || !identifier.MatchString(bare) || strings.ContainsAny(value, " \t\n") {
			break
		}
		at += len(name) + 1
		if (sounds(bare) || knownSecret.MatchString(value)) && secretValue(bare, value) {
			return span{at, len(word), bare, "args." + name}, true
		}
	}
	name, value, ok := strings.Cut(word, ":")
	trimmed := strings.TrimLeft(value, " ")
	if ok && identifier.MatchString(name) && !strings.HasPrefix(value, "//") &&
		(sounds(name) || knownSecret.MatchString(trimmed)) && secretValue(name, trimmed) {
		return span{len(name) + 1, len(word), name, "args." + name}, true
	}
	return span{}, false
}

// secretValue reports whether the value of a setting with the name of a secret is one.
func secretValue(name, value string) bool {
	return value != "" && !strings.Contains(value, mark) && !plainValue.MatchString(value) &&
		!(strings.HasPrefix(value, "$") && !sounds(name))
}
