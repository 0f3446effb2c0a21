package tool

import (
	"fmt"
	"strings"
	"testing"
)

// TestValuesInPrograms checks which tool blocks are refused because a value would be a part of
// a program, or could name one.
func TestValuesInPrograms(t *testing.T) {
	const text, number, enum, word, any = `"type":"string"`, `"type":"integer"`, `"type":"enum","values":["a","b"]`,
		`"pattern":"[a-z0-9_]{1,9}(\\.[a-z]+)?"`, `"pattern":".*"`
	for _, c := range []struct {
		command, argv, argument string
		want                    string // the path of the problem and a part of it; empty for none
	}{
		{"sh", `"-c","grep {x} a.txt"`, text, "argv[1]: text of a program"},
		{"sh", `"-c","grep {x} a.txt"`, any, "argv[1]: text of a program"},
		{"sh", `"-c","grep {x} a.txt"`, `"pattern":"[^;]+"`, "argv[1]: text of a program"},
		{"sh", `"-c","grep {x} a.txt"`, `"pattern":"[a-z]+|\\$.*"`, "argv[1]: text of a program"},
		{"sh", `"-c","grep {x} a.txt"`, `"type":"path"`, "argv[1]: text of a program"},
		{"sh", `"-c","head -n {x} a.txt"`, number, ""},
		{"sh", `"-c","head -n {x} a.txt"`, enum, ""},
		{"sh", `"-c","grep {x} a.txt"`, word, ""},
		{"sh", `"-c","grep -e \"$1\" a.txt","sh","{x}"`, text, ""},
		{"sh", `"-c","{x}"`, text, ""},
		{"sh -c", `"{x} a"`, text, "argv[0]: text of a program"},
		{"bash", `"-euo","pipefail","-c","{x} a"`, text, "argv[3]: text of a program"},
		{"bash", `"-lc","{x} a"`, text, "argv[1]: text of a program"},
		{"bash", `["-lc","{x} a"]`, text, "argv[0][1]: text of a program"},
		{"busybox", `"sh","-c","{x} a"`, text, "argv[2]: text of a program"},
		{"env", `"A=b","sh","-c","{x} a"`, text, "argv[3]: text of a program"},
		{"find", `".","-exec","sh","-c","{x} a","{}",";"`, text, "argv[4]: text of a program"},
		{"find", `".","-exec","sh","-c","echo \"$1\"","{x}",";"`, text, ""},
		{"sh", `"-c","cat {file:x}"`, text, ""},
		{"perl", `"-ne","print if /{x}/","a.txt"`, text, "argv[1]: text of a program"},
		{"perl", `"-neprint if /{x}/","a.txt"`, text, "argv[0]: text of a program"},
		{"perl5.36", `"-E","say {x}"`, text, "argv[1]: text of a program"},
		{"perl", `"-ne","BEGIN { $p = shift } print if /$p/","{x}","a.txt"`, text, ""},
		{"python3", `"-c","print({x})"`, text, "argv[1]: text of a program"},
		{"python3.11", `"-Ic","print({x})"`, text, "argv[1]: text of a program"},
		{"python3", `"-c","import sys; print(sys.argv[1])","{x}"`, text, ""},
		{"python3", `"script.py","--name={x}"`, text, ""},
		{"uv", `"run","python","-c","print({x})"`, text, "argv[3]: text of a program"},
		{"node", `"--eval=f({x})"`, text, "argv[0]: text of a program"},
		{"ruby3.1", `"-e","puts {x}"`, text, "argv[1]: text of a program"},
		{"tar", `"-cf","a.tar","--checkpoint-action=exec=echo {x}","."`, text, "argv[2]: text of a program"},
		{"rsync", `"-e","ssh -p {x}","a","b"`, text, "argv[1]: text of a program"},
		{"rsync", `"-e","ssh -p {x}","a","b"`, number, ""},
		{"psql", `"-c","select * from t where id = {x}"`, text, "argv[1]: text of a program"},
		{"psql", `"-c","select * from t where id = {x}"`, number, ""},
		{"env", `"-S","sed {x}"`, text, "argv[1]: text of a program"},
		{"watch", `"grep {x} a.txt"`, text, "argv[0]: text of a program"},
		{"ssh", `"host","grep {x} a.txt"`, text, "argv[1]: text of a program"},
		{"ssh", `"me@{x}","uptime"`, text, ""},
		{"ffmpeg", `"-i","a.mp4","-vf","scale={x}:-2","b.mp4"`, text, "argv[3]: text of a program"},
		{"ffmpeg", `"-i","a.mp4","-vf","scale={x}:-2","b.mp4"`, number, ""},
		{"ffmpeg", `"-i","a.mp4","-filter:v:0","drawtext=text='{x}'","b.mp4"`, text, "argv[3]: text of a program"},
		{"ffmpeg", `"-f","lavfi","-i","testsrc=d={x}","b.mp4"`, text, "argv[3]: text of a program"},
		{"ffmpeg", `"-i","a.mp4","-vf","{x}","b.mp4"`, text, ""},
		{"ffmpeg", `"-i","{x}.mp4","b.mp4"`, text, ""},
		{"grep", `"-e","a{x}","a.txt"`, text, ""},
		{"awk", `"/{x}/","a.txt"`, text, ""},

		{"env", `"{x}","cat","a.txt"`, text, "argv[0]: before the program that env runs"},
		{"env", `"{x}","./own","a.txt"`, text, "argv[0]: before the program that env runs"},
		{"env", `"{x}","cat","a.txt"`, enum, ""},
		{"env", `"A={x}","cat","a.txt"`, text, ""},
		{"env", `"-C","{x}","cat","a.txt"`, `"type":"path"`, ""},
		{"timeout", `"{x}","cat","a.txt"`, text, ""},
		{"timeout", `"5","{x}","cat","a.txt"`, text, "argv[1]: before the program that timeout runs"},
		{"nice", `"-n","{x}","cat"`, number, ""},
		{"xargs", `"-a","{x}","cat"`, `"type":"path"`, ""},
		{"sudo", `"-u","me","{x}","cat"`, text, "argv[2]: before the program that sudo runs"},
		{"find", `".","-exec","{x}","{}",";"`, text, "argv[2]: behind -exec could name any program"},
		{"find", `".","-exec","{x}","{}",";"`, enum, ""},
		{"busybox", `"sed","{x}","a.txt"`, text, "argv: has no option --sandbox"},
		{"busybox sed", `"{x}","a.txt"`, text, "argv: has no option --sandbox"},
		{"find", `".","-exec","busybox","sed","{x}","{}",";"`, text, "argv: has no option --sandbox"},
		{"find", `".","-exec","env","{x}","cat","{}",";"`, text, "argv[3]: before the program that env runs"},
		{"find . -exec", `"{x}","{}",";"`, text, "argv[0]: behind -exec could name any program"},
		{"find . -exec", `"grep","{x}","{}",";"`, text, ""},
		{"uv", strings.Repeat(`"run",`, 200) + `"python","-c","print({x})"`, text, "argv[202]: text of a program"},
		{"busybox", `"sed","s/a/b/","{x}"`, text, ""},
		{"busybox", `"grep","-e","{x}","a.txt"`, text, ""},
	} {
		block := fmt.Sprintf(`{"name":"t","description":"d","argv":[%s],"argument":[{"name":"x","required":true,%s}]}`,
			c.argv, c.argument)
		err := CheckBlocks(decode(t, block), strings.Fields(c.command))
		path, part, _ := strings.Cut(c.want, ": ")
		switch {
		case c.want == "" && err == nil:
		case c.want == "" || err == nil || !strings.Contains(fmt.Sprintf("%#v", err)+err.Error(), part) ||
			!strings.HasPrefix(err.Error(), "tool[0]."+path+":") &&
				!strings.Contains(fmt.Sprintf("%+v", err), "tool[0]."+path):
			t.Errorf("%s %s %s: %v, want %q", c.command, c.argv, c.argument, err, c.want)
		}
	}
}

// TestDangerousAllowsValuesInPrograms checks the line that each problem proposes.
func TestDangerousAllowsValuesInPrograms(t *testing.T) {
	for _, c := range []struct{ command, argv, dangerous string }{
		{"sh", `"-c","grep {x} a.txt"`, "-c"}, {"perl", `"-ne","print if /{x}/"`, "-e"},
		{"ssh", `"host","grep {x} a.txt"`, "<text>"}, {"env", `"{x}","cat"`, "env"},
		{"find", `".","-exec","{x}",";"`, "-exec"}, {"busybox", `"sed","{x}"`, "--sandbox"},
		{"ffmpeg", `"-i","a","-vf","scale={x}","b.mp4"`, "-vf"},
	} {
		block := `{"name":"t","description":"d","argv":[` + c.argv + `],"argument":[{"name":"x","required":true}]}`
		err := CheckBlocks(decode(t, block), []string{c.command})
		if err == nil {
			t.Errorf("%s %s: no problem", c.command, c.argv)
		}
		if err := CheckBlocks(decode(t, block), []string{c.command}, c.dangerous); err != nil {
			t.Errorf("%s %s, %s: %v", c.command, c.argv, c.dangerous, err)
		}
		if err := CheckBlocks(decode(t, block), []string{c.command}, "--other", "other"); err == nil {
			t.Errorf("%s %s, another: no problem", c.command, c.argv)
		}
	}
}
