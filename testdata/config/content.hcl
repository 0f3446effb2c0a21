server "a" {
  describe   = "short"
  bad_schema = "hidden"
  resources {
    unlisted = "maybe"
    listed   = true
  }
  transport "stdio" {
    command = ["x"]
  }
}

server "b" {
  describe   = 3
  bad_schema = ["hide"]
  resources  = true
  transport "stdio" {
    command = ["x"]
  }
}

server "c" {
  resources {
  }
  resources {
    unlisted = true
  }
  transport "stdio" {
    command = ["x"]
  }
}
