# Several servers, each with its own prefix. When one cannot be reached, only its
# own tools are missing.
locals {
  state = env("XDG_STATE_HOME", "/tmp")
}

server "memory" {
  transport "stdio" {
    command = ["mcp-server-memory"]
    env     = { MEMORY_FILE_PATH = "${local.state}/junctor-example-memory.json" }
  }
  idle = "10m"
}

server "everything" {
  prefix = "all"
  transport "stdio" {
    command = ["mcp-server-everything"]
  }
  timeouts {
    start = "30s"
    call  = "2m"
  }
}

server "later" {
  enabled = false
  transport "stdio" {
    command = ["not-installed-yet", env("A_TOKEN_NOBODY_HAS")]
  }
}
