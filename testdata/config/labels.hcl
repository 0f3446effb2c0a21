server {
  transport {
  }
}

server "a" "b" {
  transport "stdio" {
    command = ["x"]
  }
  timeouts "x" {
  }
}

plugins "x" {
}

plugin {
}
