// Command conformance runs Junctor as a client under the official conformance
// suite (@modelcontextprotocol/conformance). The suite starts it once for each
// scenario. The last argument is the URL of a server, and the environment
// contains the name of the scenario.
//
// The program writes a configuration with that server and uses the real junctor
// as the scenario demands. The suite judges the result. If a server asks the
// user questions, a client of the Go SDK answers them through junctor serve.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Environment variables: two of the suite, and one with the path of junctor.
const (
	scenarioVariable = "MCP_CONFORMANCE_SCENARIO"
	contextVariable  = "MCP_CONFORMANCE_CONTEXT"
	junctorVariable  = "CONFORMANCE_JUNCTOR"
)

// patience is below the timeout of the suite, so that this program can report
// what it waits for.
const patience = 50 * time.Second

// scenarios maps scenarios to their actions. All others, which are about OAuth,
// use useWithLogin.
var scenarios = map[string]func(*user) error{
	"tools_call":                          (*user).addNumbers,
	"elicitation-sep1034-client-defaults": (*user).acceptDefaults,
	"sse-retry":                           (*user).reconnect,
	"sep-2322-client-request-state":       (*user).answerRounds,
	"http-standard-headers":               (*user).useEverything,
	"http-custom-headers":                 (*user).callAsTold,
	"http-invalid-tool-headers":           (*user).callAllListed,
	"json-schema-ref-no-deref":            (*user).useReferences,
	"json-schema-2020-12-preservation":    (*user).returnSchema,
}

func main() {
	do := run
	if len(os.Args) == 3 && os.Args[1] == browse {
		do = func() error { return openPage(os.Args[2]) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run() error {
	junctor := os.Getenv(junctorVariable)
	if len(os.Args) < 2 || junctor == "" {
		return fmt.Errorf("give the URL of a server, and the path of junctor in %s", junctorVariable)
	}
	home, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	u := &user{ctx: ctx, junctor: junctor, home: home}
	if err := u.configure(os.Args[len(os.Args)-1]); err != nil {
		return err
	}
	do := scenarios[os.Getenv(scenarioVariable)]
	if do == nil {
		do = (*user).useWithLogin
	}
	return do(u)
}

// A user has a directory with a configuration that contains one server.
type user struct {
	ctx     context.Context
	junctor string
	home    string
}

func (u *user) configure(url string) error {
	scenario, auth := os.Getenv(scenarioVariable), ""
	if strings.HasPrefix(scenario, "auth/") {
		var err error
		if auth, err = credentials(scenario); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("server \"it\" {\n  transport \"http\" {\n    url = %q\n  }\n  prefix = \"\"\n  timeouts {\n    start = \"40s\"\n  }\n%s}\n",
		url, auth)
	password := filepath.Join(u.home, "password")
	if err := os.WriteFile(password, []byte("conformance"), 0o600); err != nil {
		return err
	}
	text += fmt.Sprintf("secret_store \"file\" {\n  password_file = %q\n}\n", password)
	return os.WriteFile(filepath.Join(u.home, "junctor.hcl"), []byte(text), 0o600)
}

// command returns a junctor command.
func (u *user) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(u.ctx, u.junctor, args...)
	cmd.Dir = u.home
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "JUNCTOR_") && name != "CI" && name != "NO_BROWSER" {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "BROWSER="+os.Args[0]+" "+browse,
		"JUNCTOR_HOME="+filepath.Join(u.home, "home"), "JUNCTOR_CONFIG="+filepath.Join(u.home, "junctor.hcl"))
	return cmd
}

// run runs a junctor command and decodes its output into into, unless that is
// nil.
func (u *user) run(into any, args ...string) error {
	cmd := u.command(args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("junctor %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("junctor %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// An item is an entry of a list.
type item struct{ Name, URI string }

func (u *user) list(kind string) (items []item, err error) {
	err = u.run(&items, kind)
	return items, err
}

func (u *user) addNumbers() error { return u.run(nil, "call", "add_numbers", "a=5", "b=3") }

func (u *user) reconnect() error { return u.run(nil, "call", "test_reconnection") }

// useEverything calls all tools, reads all resources and gets all prompts.
func (u *user) useEverything() error {
	if err := u.callAllListed(); err != nil {
		return err
	}
	resources, err := u.list("resources")
	if err != nil {
		return err
	}
	for _, r := range resources {
		if err := u.run(nil, "read", r.URI); err != nil {
			return err
		}
	}
	prompts, err := u.list("prompts")
	if err != nil {
		return err
	}
	for _, p := range prompts {
		if err := u.run(nil, "prompt", p.Name); err != nil {
			return err
		}
	}
	return nil
}

// callAllListed calls all tools with a text for each argument in the schema.
func (u *user) callAllListed() error {
	tools, err := u.list("tools")
	if err != nil {
		return err
	}
	for _, tool := range tools {
		var known struct {
			InputSchema struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"inputSchema"`
		}
		if err := u.run(&known, "inspect", tool.Name); err != nil {
			return err
		}
		args := []string{"call", tool.Name}
		for name := range known.InputSchema.Properties {
			args = append(args, name+"=x")
		}
		if err := u.run(nil, args...); err != nil {
			return err
		}
	}
	return nil
}

// callAsTold makes the calls that the suite supplies.
func (u *user) callAsTold() error {
	var told struct {
		ToolCalls []toolCall `json:"toolCalls"`
	}
	if err := json.Unmarshal([]byte(os.Getenv(contextVariable)), &told); err != nil {
		return fmt.Errorf("%s: %w", contextVariable, err)
	}
	for i := range told.ToolCalls {
		c := &told.ToolCalls[i]
		if err := u.run(nil, "call", c.Name, string(c.set())); err != nil {
			return err
		}
	}
	return u.served(nil, func(s *mcp.ClientSession) error {
		for _, c := range told.ToolCalls {
			if err := called(s.CallTool(u.ctx, &mcp.CallToolParams{Name: c.Name, Arguments: c.set()})); err != nil {
				return err
			}
		}
		return nil
	})
}

// A toolCall is a call that the suite supplies.
type toolCall struct {
	Name      string                     `json:"name"`
	Arguments map[string]json.RawMessage `json:"arguments"`
}

// set returns the arguments without those that are null. The tools' schemas do
// not allow null, so Junctor would reject the call. A missing argument has no
// value either.
func (c *toolCall) set() json.RawMessage {
	arguments := maps.Clone(c.Arguments)
	maps.DeleteFunc(arguments, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	text, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // the parts are valid JSON
	}
	return text
}

// useReferences makes Junctor process a tool's schema. The server does not
// implement calls.
func (u *user) useReferences() error {
	if err := u.run(nil, "inspect", "lookup_user"); err != nil {
		return err
	}
	return u.served(nil, func(s *mcp.ClientSession) error {
		if _, err := s.ListTools(u.ctx, nil); err != nil {
			return err
		}
		_, err := s.CallTool(u.ctx, &mcp.CallToolParams{Name: "lookup_user", Arguments: map[string]any{"id": "ada"}})
		if err == nil {
			return errors.New("a call succeeded although the server does not implement calls")
		}
		return nil
	})
}

// returnSchema sends a listed schema back to the server.
func (u *user) returnSchema() error {
	var tool struct {
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if err := u.run(&tool, "inspect", "json_schema_2020_12_tool"); err != nil {
		return err
	}
	return u.run(nil, "call", "json_schema_echo", "schema:="+string(tool.InputSchema))
}

// acceptDefaults accepts an elicitation. The Go SDK fills in the defaults of
// the request.
func (u *user) acceptDefaults() error {
	return u.served(accept(nil), func(s *mcp.ClientSession) error {
		return called(s.CallTool(u.ctx, &mcp.CallToolParams{Name: "test_client_elicitation_defaults"}))
	})
}

// answerRounds calls tools that respond with input requests. Before each answer
// it calls another tool.
func (u *user) answerRounds() error {
	var session *mcp.ClientSession
	between := func() error {
		return called(session.CallTool(u.ctx, &mcp.CallToolParams{Name: "test_mrtr_unrelated"}))
	}
	return u.served(accept(between), func(s *mcp.ClientSession) error {
		session = s
		for _, tool := range []string{"test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_no_result_type"} {
			if err := called(s.CallTool(u.ctx, &mcp.CallToolParams{Name: tool})); err != nil {
				return fmt.Errorf("%s: %w", tool, err)
			}
		}
		return nil
	})
}

// accept returns a handler that accepts every elicitation after calling before,
// which may be nil.
func accept(before func() error) func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	return func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		if before != nil {
			if err := before(); err != nil {
				return nil, err
			}
		}
		content := map[string]any{}
		if schema, _ := json.Marshal(r.Params.RequestedSchema); bytes.Contains(schema, []byte(`"confirmed"`)) {
			content["confirmed"] = true
		}
		return &mcp.ElicitResult{Action: "accept", Content: content}, nil
	}
}

// called converts a result with isError to an error.
func called(r *mcp.CallToolResult, err error) error {
	if err == nil && r.IsError {
		text, _ := json.Marshal(r)
		err = fmt.Errorf("the tool answered %s", text)
	}
	return err
}

// served connects a client of the Go SDK to junctor serve. The client supports
// elicitation if answer is not nil.
func (u *user) served(answer func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error),
	use func(*mcp.ClientSession) error) error {
	options := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}, ElicitationHandler: answer}
	client := mcp.NewClient(&mcp.Implementation{Name: "conformance", Version: "1"}, options)
	cmd := u.command("serve")
	cmd.Stderr = os.Stderr
	var so *mcp.ClientSessionOptions
	if v := os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION"); v != "" && v < "2026" {
		so = &mcp.ClientSessionOptions{ProtocolVersion: v}
	}
	s, err := client.Connect(u.ctx, &mcp.CommandTransport{Command: cmd}, so)
	if err != nil {
		return err
	}
	err = use(s)
	if closed := s.Close(); err == nil {
		err = closed
	}
	return err
}
