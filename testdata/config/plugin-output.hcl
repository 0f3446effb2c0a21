plugins {
  required = {
    chatty = { source = "./chatty" }
  }
}
server "a" {
  transport "chatty" {
    token = env("API_TOKEN")
  }
}
server "b" {
  transport "stdio" {
    command = ["x", env("API_TOKEN")]
  }
}
