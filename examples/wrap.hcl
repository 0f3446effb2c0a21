# A command-line program as an MCP server: du, with one tool by hand. The depth has
# limits, the unit is fixed, and the path must stay below cwd, the directory of
# this file.
server "disk" {
  transport "cli" {
    command = ["du", "-h"]

    tool "usage" {
      description = "Shows how much space the directories below a path take."
      argv        = ["--max-depth={depth}", "--", "{path}"]
      access      = "read"
      argument "path" {
        type        = "path"
        required    = true
        description = "The directory to look at."
      }
      argument "depth" {
        type        = "integer"
        description = "How many levels of directories to show."
        default     = "1"
        minimum     = 0
        maximum     = 5
      }
    }
  }
}
