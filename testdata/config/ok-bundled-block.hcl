plugin "stdio" {
  isolation = "server"
}

plugin "tools" {
  use = "stdio"
  env = ["LANG"]
}

server "a" {
  transport "tools" {
    command  = ["a"]
    pass_env = ["HOME"]
  }
}

server "b" {
  transport "cli" {
    command = ["b"]
  }
}
