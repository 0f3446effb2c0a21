defaults {
  idle = "5m"
}

defaults {
  idle = "6m"
}

defaults "label" {
}

server "a" {
  transport "stdio" {
    command = ["x"]
  }
}
