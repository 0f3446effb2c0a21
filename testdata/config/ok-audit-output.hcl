audit {
  output = "stderr"
  redact = ["a/b"] # has no effect
}

server "a" {
  transport "stdio" {
    command = ["a"]
  }
}
