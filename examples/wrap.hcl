# A program that is no MCP server, as one: du, with what may be asked of it
# written down. The depth can be chosen within limits, the unit cannot, and the
# path has to stay below cwd, which is this directory.
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
