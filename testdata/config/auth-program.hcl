server "a" {
  transport "stdio" {
    command = ["x"]
  }
  auth "oauth" {
  }
}

plugin "mine" {
  use = "cli"
}

server "b" {
  transport "mine" {
    command = ["x"]
  }
  auth "bearer" {
    token = "hunter2"
  }
}
