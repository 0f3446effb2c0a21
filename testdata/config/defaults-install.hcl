defaults {
  timeouts {
    start   = "30s"
    install = "20s"
  }
}

server "a" {
  timeouts {
    install = "10s"
  }
  transport "stdio" {
    command = ["x"]
  }
}
