server "a" {
  transport "stdio" {
    command = ["x"]
  }
  tools {
    allow = "get_*"
    deny  = [["x"]]
  }
}
