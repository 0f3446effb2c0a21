server "a" {
  transport "stdio" {
    command = ["x"]
  }
  tools {
    allow = ["get_*", "x"]
    deny  = ["x", ""]
    read  = ["get_*"]
    write = ["get_*", null]
    alow  = ["x"]
  }
}
