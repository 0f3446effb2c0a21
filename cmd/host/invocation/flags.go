package invocation

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A LayerFlag is the value of --config, which may be given several times. Layers is a field of the
// Invocation.
type LayerFlag struct{ Layers *[]string }

// Set adds a layer, as [pflag.Value], before the verb runs. It ignores a path that repeats the last
// one: a layer below itself has nothing to add.
func (f *LayerFlag) Set(path string) error {
	if len(*f.Layers) == 0 || path != last(*f.Layers) {
		*f.Layers = append(*f.Layers, path)
	}
	return nil
}

func (f *LayerFlag) String() string {
	if f.Layers == nil {
		return ""
	}
	return last(*f.Layers)
}

// Type implements [pflag.Value].
func (f *LayerFlag) Type() string { return "stringArray" }

// Append, Replace and GetSlice implement [pflag.SliceValue].
func (f *LayerFlag) Append(path string) error { return f.Set(path) }

func (f *LayerFlag) Replace(paths []string) error {
	*f.Layers = nil
	for _, path := range paths {
		_ = f.Set(path)
	}
	return nil
}

func (f *LayerFlag) GetSlice() []string { return *f.Layers }

// RootFlag adds --root.
func RootFlag(cmd *cobra.Command, roots *[]string, about string) {
	cmd.Flags().StringArrayVar(roots, "root", nil,
		"a `DIRECTORY` that servers are told of when they ask for roots"+about+"; may be repeated")
	_ = cmd.MarkFlagDirname("root")
}

// last returns the last of some paths, or "" if there are none.
func last(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return paths[len(paths)-1]
}

// ServerFlags are the flags that describe a server, beside its URL or command: those of add, and of
// the verbs that take a server which no configuration has (direct.go). Their names are an interface
// for scripts.
type ServerFlags struct {
	Env, Headers []string
	Dir          string
	Sse          bool
}

// Server returns the server that the arguments name: a name, and a URL or a command. The caller gives
// at least two arguments. dash is how many precede --, or -1.
func (x *ServerFlags) Server(args []string, dash int) (clientconfig.Server, error) {
	s := clientconfig.Server{Name: args[0], Dir: x.Dir, SSE: x.Sse}
	switch remote := strings.Contains(args[1], "://"); {
	case dash == 1:
		s.Command = args[1:]
	case dash >= 0 || len(args) > 2 || !remote:
		program := "COMMAND"
		if PlainWord.MatchString(args[1]) {
			program = args[1]
		}
		return s, fault.New(fault.Usage, "%q is not a URL", args[1]).
			WithHint("write a program behind --: `junctor add %s -- %s ARGUMENT...`", args[0], program)
	default:
		s.URL = args[1]
	}
	if s.URL == "" && (len(x.Headers) > 0 || x.Sse) || s.URL != "" && (len(x.Env) > 0 || x.Dir != "") {
		return s, fault.New(fault.Usage, "--header and --sse are for a URL, --env and --cwd for a program").
			WithHint("omit the other ones")
	}
	for _, text := range x.Env {
		name, value, given := strings.Cut(text, "=")
		if !given {
			s.PassEnv = append(s.PassEnv, name)
			continue
		}
		set(&s.Env, name, value)
	}
	for _, text := range x.Headers {
		name, value, given := strings.Cut(text, ":")
		if !given {
			return s, fault.New(fault.Usage, "--header %q has no colon", name).WithHint(`write --header "NAME: VALUE"`)
		}
		set(&s.Headers, strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return s, nil
}

func set(in *map[string]string, name, value string) {
	if *in == nil {
		*in = map[string]string{}
	}
	(*in)[name] = value
}

// PlainWord matches a word that is no argument of a call.
var PlainWord = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
