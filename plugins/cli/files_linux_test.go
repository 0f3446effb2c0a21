package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const fileTools = `{"command":[%[1]q,"-c"],"cwd":%[2]q,"paths":"any","tool":[
	{"name":"cat","description":"d","argv":["cat $0; ls -l $0","{file:body:json}"],"access":"read","argument":[{"name":"body","required":true}]},
	{"name":"make","description":"d","argv":["T=$0; {script2}","{out:txt}"],"access":"read","argument":[{"name":"script2","required":true}]},
	{"name":"json","description":"d","argv":["printf %%s \"$1\" >$0; echo said","{out}","{text}"],"output":"json","select":".a","argument":[{"name":"text","required":true}]},
	{"name":"png","description":"d","argv":["printf '\\211PNG\\r\\n\\032\\n' >$0","{out:png}"],"output":"image"},
	{"name":"small","description":"d","argv":["echo 0123456789 >$0","{out}"],"max_output":4}]}`

// TestFilesOfCalls runs tools that get files and write them.
func TestFilesOfCalls(t *testing.T) {
	s := newWalledSite(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	h := openHost(t, fmt.Sprintf(fileTools, s.shell, s.work))
	script := func(text string) string {
		quoted, err := json.Marshal(map[string]string{"script2": text})
		if err != nil {
			t.Fatal(err)
		}
		return string(quoted)
	}
	for _, c := range []struct {
		tool, args, text, kind string
		failed                 bool
	}{
		{"cat", `{"body":"-x ../../etc/passwd\n"}`, "-x ../../etc/passwd\n-rw------- ", "", false},
		{"cat", `{"body":""}`, "junctor-in-body.json", "", false},
		{"make", script("echo made >$T; echo said; echo wrong >&2"),
			"made\n--- standard output ---\nsaid\n--- standard error ---\nwrong", "", false},
		{"make", script("echo said"), "said\n--- output = \"auto\": the program wrote no file", "", true},
		{"make", script("echo made >$T; exit 3"), "it exited with status 3", "", true},
		{"make", script("ln -s $HOME/notes.txt $T"), "symbolic link at {out}, which is not followed", "", true},
		{"make", script("mkdir $T"), "a directory at {out}", "", true},
		{"make", script("mkfifo $T"), "no regular file at {out}", "", true},
		{"make", script("D=$(dirname $T); rm -rf $D; ln -s $HOME $D"), "wrote no file", "", true},
		{"make", script("printf '\\377\\000' >$T"), "[2 bytes that are not text, in the resource junctor:out]",
			"resource", false},
		{"json", `{"text":"{\"a\":\"b\"}"}`, "b\n--- standard output ---\nsaid", "", false},
		{"json", `{"text":"{}"}`, "select finds nothing: the output has no .a", "", true},
		{"json", `{"text":"no"}`, "no\n--- standard output ---\nsaid\n--- output = \"json\": it is no JSON", "", true},
		{"png", `{}`, "[image/png of 8 bytes]", "image", false},
		{"small", `{}`, "0123\n[... 7 bytes were left out here ...]", "", false},
	} {
		r := h.call(c.tool, c.args)
		if r.IsError != c.failed || !strings.Contains(r.Content[0].Text, c.text) {
			t.Errorf("%s %s: %+v", c.tool, c.args, r)
		}
		if last := r.Content[len(r.Content)-1].Type; c.kind != "" && last != c.kind {
			t.Errorf("%s %s: %s", c.tool, c.args, last)
		}
		if left, _ := filepath.Glob(filepath.Join(temp, "junctor-run-*")); len(left) > 0 {
			t.Errorf("%s %s left %q", c.tool, c.args, left)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.home, "notes.txt")); err != nil || len(text) == 0 {
		t.Errorf("%q, %v", text, err)
	}
}

// TestFilesOfCancelledCalls checks that the files of a run that is stopped are removed.
func TestFilesOfCancelledCalls(t *testing.T) {
	s := newWalledSite(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	h := openHost(t, fmt.Sprintf(`{"command":[%q,"-c"],"cwd":%q,"tool":[
		{"name":"slow","description":"d","argv":["echo part >$0; sleep 20","{out}","{file:x}"],"timeout":"400ms","argument":[{"name":"x","default":"y"}]}]}`,
		s.shell, s.work))
	if r := h.call("slow", `{}`); !r.IsError || !strings.Contains(r.Content[0].Text, "did not end within its time") ||
		strings.Contains(r.Content[0].Text, "part") {
		t.Errorf("%+v", r)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}
