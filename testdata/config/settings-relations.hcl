plugins {
  required = {
    kitchen = { source = "./kitchen" }
  }
}

server "a" {
  transport "kitchen" {
    url   = "x"
    token = "hunter2"
    file  = "x"
  }
}
