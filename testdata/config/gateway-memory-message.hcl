gateway {
  max_memory = "128MiB"
}

server "small" {
  max_message = "32MiB"
  transport "stdio" {
    command = ["x"]
  }
}

server "large" {
  max_message = "33MiB"
  transport "stdio" {
    command = ["x"]
  }
}
