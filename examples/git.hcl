# Read-only access to the history of a repository. Junctor discovers git's commands
# and offers these four. Options that write files, run programs or compare any two
# files (--output, --ext-diff, --no-index) are left out by default, and paths must
# stay below cwd.
server "git" {
  transport "cli" {
    command = ["git", "--no-pager"]
    cwd     = env("REPO", ".")
    only    = ["log", "diff", "show", "status"]
    read    = ["*"]
    timeout = "20s"
  }
}
