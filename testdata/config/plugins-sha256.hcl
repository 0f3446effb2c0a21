plugins {
  required = {
    kitchen = { source = "./kitchen", sha256 = "abc" }
  }
}
server "a" {
  transport "kitchen" {
    url = "x"
  }
}
