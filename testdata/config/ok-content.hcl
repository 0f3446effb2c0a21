server "a" {
  describe   = "brief"
  bad_schema = "hide"
  resources {
    unlisted = true
  }
  transport "stdio" {
    command = ["x"]
  }
}

server "b" {
  describe   = "verbatim"
  bad_schema = "replace"
  resources {}
  transport "stdio" {
    command = ["x"]
  }
}
