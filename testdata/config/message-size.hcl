server "a" {
  max_message = "16"
  transport "stdio" {
    command = ["x"]
  }
}

server "b" {
  max_message = "1GiB"
  transport "stdio" {
    command = ["x"]
  }
}

server "c" {
  max_message = "1KiB"
  transport "stdio" {
    command = ["x"]
  }
}

server "d" {
  max_message = "257MiB"
  transport "stdio" {
    command = ["x"]
  }
  timeouts {
    progress_extends = "often"
  }
}

server "e" {
  max_message = env("SIZE")
  transport "stdio" {
    command = ["x"]
  }
}
