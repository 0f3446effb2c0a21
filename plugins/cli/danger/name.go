package danger

import (
	"path/filepath"
	"regexp"
	"strings"
)

// machine matches the name of a machine as compilers have it, such as x86_64-linux-gnu.
const machine = `(?:x86_64|amd64|i[3-6]86|aarch64|arm|armv[0-9][a-z]*|riscv(?:32|64)|ppc|ppc64|ppc64le|powerpc|powerpc64|powerpc64le|mips\w*|s390x?|sparc|sparc64|` +
	`loongarch64|alpha|hppa|ia64|m68k|avr|msp430|wasm32|wasm64)(?:-[a-z][a-z0-9_]*){1,3}`

var (
	versioned = regexp.MustCompile(`^(.*[^-.0-9])-?[0-9][0-9.]*$|^(.+)-[0-9][0-9.]*$`)
	forOther  = regexp.MustCompile(`^` + machine + `-([a-z+].*)$`)
	builtFor  = regexp.MustCompile(`^(.*[^-])-` + machine + `$`)
	magick    = regexp.MustCompile(`^(.+)-im[0-9](?:\.q[0-9]+(?:hdri)?)?$`)
	variant   = regexp.MustCompile(`^(.+)[-.](?:basic|tiny|nox|gtk[0-9]?|x11|lucid|motif|athena|openbsd|traditional|original|orig|distrib|real|bin|static|gnu|bsd|posix|textutils|debianutils|sysstat|ul|lzip)$`)
	linker    = regexp.MustCompile(`^ld(?:-linux|-musl)?[-.\w]*\.so(?:\.[0-9]+)*$|^ld64?\.so(?:\.[0-9]+)*$`)
)

// dynamicLinker is the name in the table of all programs that load and start another one.
const dynamicLinker = "ld.so"

// known returns the name of a program in the table, or "". It also knows a program by a name
// with a version, as python3.11 and clang-14, with a machine, as x86_64-linux-gnu-gcc and
// perl5.36-x86_64-linux-gnu, and by that of a variant, as vim.basic and convert-im6.q16.
func known(table map[string][]row, program string) string {
	name := filepath.Base(filepath.ToSlash(program))
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".exe", ".cmd", ".bat":
		name = strings.TrimSuffix(strings.ToLower(name), ext)
	}
	if linker.MatchString(name) {
		return dynamicLinker
	}
	for range maxSpellings {
		if table[name] != nil {
			return name
		}
		shorter := ""
		for _, spelling := range []*regexp.Regexp{forOther, builtFor, magick, versioned, variant} {
			if m := spelling.FindStringSubmatch(name); m != nil {
				shorter = m[1] + strings.Join(m[2:], "")
				break
			}
		}
		if shorter == "" {
			return ""
		}
		name = shorter
	}
	return ""
}

// maxSpellings bounds how many parts of a name are cut off.
const maxSpellings = 5
