# The history of a repository, to read and nothing else. What git can do is found
# out by asking git; only these four commands are offered. Options that write
# files, run programs or compare any two files (--output, --ext-diff, --no-index)
# are left out by themselves, and paths have to stay below cwd.
server "git" {
  transport "cli" {
    command = ["git", "--no-pager"]
    cwd     = env("REPO", ".")
    only    = ["log", "diff", "show", "status"]
    read    = ["*"]
    timeout = "20s"
  }
}
