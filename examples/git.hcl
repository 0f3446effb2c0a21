# The history of a repository, to read and nothing else. What git can do is found
# out by asking git; only these four commands are offered, without the options
# that would write files or run other programs.
server "git" {
  transport "cli" {
    command = ["git", "-C", env("REPO", "."), "--no-pager"]
    only    = ["log", "diff", "show", "status"]
    omit    = ["--output", "--ext-diff", "--textconv"]
    read    = ["*"]
    timeout = "20s"
  }
}
