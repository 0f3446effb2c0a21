package command

import "github.com/junctor-mcp/junctor/host/lazyregexp"

// interpreter matches programs whose first argument is a script, or its directory.
var interpreter = lazyregexp.New(`^(?:python|pypy|perl|php|ruby|lua|nodejs|node|bun|deno|tsx|ts-node` +
	`|sh|bash|dash|ash|zsh|ksh|fish)[0-9.]*$`)

// nodePackages matches programs that look for packages in node_modules, of their working
// directory and those above.
var nodePackages = lazyregexp.New(`^(?:nodejs|node|npx|npm|pnpx|pnpm|yarn|bunx|bun|tsx|ts-node)[0-9.]*$`)

// pythonRunners are those that run what is in the virtual environment of a project.
var pythonRunners = lazyregexp.New(`^(?:uv|poetry|pdm|hatch|pipenv)$`)

// nodeRunners are those that run a package by its name.
var nodeRunners = lazyregexp.New(`^(?:npx|pnpx|bunx)$`)

// pythonModule matches options of Python up to that for a module, such as -um.
var pythonModule = lazyregexp.New(`^-[bBdEiIOPqsSuvx]*m`)

// packageRunners run a package by its name, from wherever it is published.
var packageRunners = []string{"npx", "pnpx", "bunx", "uvx", "pipx"}

// shells are the interpreters that load no modules.
var shells = lazyregexp.New(`^(?:sh|bash|dash|ash|zsh|ksh|fish)$`)

// changesDirectory matches the word before a directory in which a command goes on.
var changesDirectory = lazyregexp.New(`^(?:cd|-C|--directory|--project|--prefix|--cwd|--dir)$`)

// runnerFiles are the files in which programs find what they run.
var runnerFiles = map[string][]string{
	"npx":     {".npmrc"},
	"pnpx":    {".npmrc"},
	"bunx":    {".npmrc", "bunfig.toml"},
	"npm":     {"package.json", ".npmrc"},
	"pnpm":    {"package.json", ".npmrc", ".pnpmfile.cjs", "pnpm-workspace.yaml"},
	"yarn":    {"package.json", ".yarnrc", ".yarnrc.yml"},
	"bun":     {"package.json", "bunfig.toml"},
	"deno":    {"deno.json", "deno.jsonc", "package.json"},
	"uv":      {"pyproject.toml", "uv.toml", "uv.lock"},
	"uvx":     {},
	"pipx":    {},
	"poetry":  {"pyproject.toml", "poetry.toml"},
	"pipenv":  {"Pipfile"},
	"pdm":     {"pyproject.toml", "pdm.toml"},
	"make":    {"GNUmakefile", "makefile", "Makefile"},
	"just":    {"justfile", "Justfile", ".justfile"},
	"task":    {"Taskfile.yml", "Taskfile.yaml"},
	"compose": {"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"},
	"go":      {"go.mod", "go.work", "main.go"},
	"cargo":   {"Cargo.toml"},
	"dotnet":  {"Program.cs"},
	"mix":     {"mix.exs"},
	"bundle":  {"Gemfile"},
	"rake":    {"Rakefile"},
	"gradle":  {"build.gradle", "build.gradle.kts"},
	"mvn":     {"pom.xml"},
}

var (
	// moduleFiles are the endings of what Python takes for a module.
	moduleFiles = []string{".py", "/__init__.py", "/__main__.py"}
	// directoryFiles are the endings of what a program takes for the script in a directory.
	directoryFiles = []string{
		"/__main__.py", "/pyproject.toml", "/setup.py", "/setup.cfg", "/package.json", "/index.js", "/index.mjs",
		"/index.cjs", "/index.ts", "/index.tsx", "/main.go",
	}
	// scriptEndings are the endings of files that interpreters run.
	scriptEndings = []string{
		".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".rb", ".pl", ".php", ".sh", ".bash", ".lua",
		".jar", ".pyz", ".phar",
	}
)

// codeVariables name a directory of libraries or packages, and of nothing else.
var codeVariables = []string{
	"LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONUSERBASE", "NODE_PATH", "GEM_HOME", "CARGO_HOME", "GOCACHE",
	"GOMODCACHE", "DENO_DIR", "BUN_INSTALL",
	"NPM_CONFIG_CACHE", "npm_config_cache", "UV_CACHE_DIR", "UV_TOOL_DIR", "UV_PROJECT_ENVIRONMENT",
	"PIP_CACHE_DIR", "PIPX_HOME",
}

// codeVariable matches environment variables that make well-known programs run other
// code.
var codeVariable = lazyregexp.New(`(?i)^(PATH|(LD|DYLD|GIT|NPM_CONFIG|UV|PIP)_.*|NODE_(OPTIONS|PATH)` +
	`|(PYTHON|PERL5|RUBY).*|(BASH_)?ENV|_?JAVA.*|JDK_.*|CLASSPATH|DOTNET_.*)$`)

// ChoosesCode reports whether an environment variable makes well-known programs run other
// code.
func ChoosesCode(variable string) bool { return codeVariable.MatchString(variable) }
