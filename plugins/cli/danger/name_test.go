package danger

import "testing"

func TestNamesOfPrograms(t *testing.T) {
	table, err := readTable()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"python3.11": "python", "python3": "python", "perl5.36-x86_64-linux-gnu": "perl",
		"perl5.36.0": "perl", "clang-14": "clang", "clang++-14": "clang++", "ruby3.1": "ruby", "erb3.1": "erb",
		"x86_64-linux-gnu-gcc": "gcc", "x86_64-linux-gnu-g++-12": "g++", "arm-none-eabi-gcc": "gcc",
		"aarch64-linux-gnu-cpp": "cpp", "i686-w64-mingw32-gcc": "gcc", "c99-gcc": "c99-gcc", "c89": "c89",
		"convert-im6.q16": "convert", "mogrify-im7.q16hdri": "mogrify", "convert-im6": "convert",
		"vim.basic": "vim", "/usr/bin/vim.tiny": "vim", "nc.openbsd": "nc", "nc.traditional": "nc",
		"emacs-nox": "emacs", "emacs-gtk": "emacs",
		"ld-linux-x86-64.so.2": dynamicLinker, "/lib64/ld-linux-x86-64.so.2": dynamicLinker,
		"ld-musl-x86_64.so.1": dynamicLinker, "ld.so": dynamicLinker, "ld64.so.2": dynamicLinker,
		"ld-linux.so.2": dynamicLinker,
		"ld.bfd":        "ld.bfd", "x86_64-linux-gnu-ld.gold": "ld.gold", "2to3-3.11": "2to3", "PYTHON3.EXE": "python",
		"luatex": "luatex", "texlua": "texlua", "luajit": "luajit", "jrunscript": "jrunscript", "lli-14": "lli",
		"gdbtui": "gdbtui",
		"rvim":   "rvim", "rview": "rview", "red": "red", "editor": "editor", "rgrep": "rgrep",
		"which.debianutils": "which", "md5sum.textutils": "md5sum", "git": "git", "valgrind.bin": "valgrind",

		"script.py": "", "make.txt": "", "time.sh": "", "find.log": "", "docker-compose": "", "git-lfs": "",
		"perl-critic": "", "vim.basic.txt": "", "x86_64-linux-gnu-": "", "-": "", "": "", "3.11": "", "gcc-config": "",
		"ld.so.conf": "", "my-linux-gcc": "", "im6": "",
	} {
		if got := known(table, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
