# Every attribute of serverattributes.go, with a value other than its default.
server "all" {
  transport "stdio" {
    command = ["mcp-git"]
  }

  enabled     = 1 == 1
  prefix      = "other"
  protocol    = "2025-06-18"
  share       = "session"
  idle        = "never"
  required    = true
  max_message = "32MiB"
  registry    = "io.github.example/git@1.2.3"
  describe    = "brief"
  context     = ["client"]
  bad_schema  = "hide"
  definitions = "locked"
  log_level   = "warning"
  trace       = "off"
  timeouts {
    start            = "20s"
    install          = "10m"
    call             = "90s"
    shutdown         = "8s"
    progress_extends = true
  }
  resources {
    unlisted = true
  }
  tools {
    allow      = ["get_*", "set_*"]
    deny       = ["get_secret"]
    read       = ["get_*"]
    write      = ["set_*"]
    idempotent = ["set_name"]
    confirm    = ["drop_*"]
  }
}
