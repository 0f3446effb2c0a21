# What is offered of a server, under which names, with which arguments fixed.
server "demo" {
  prefix = "office"
  transport "stdio" {
    command = ["../bin/junctor-demo"]
  }

  tools {
    deny       = ["fail"]
    idempotent = ["add"]
  }
  tool "greet" {
    name        = "welcome"
    description = "Greet a visitor in German."
    pin         = { language = "de" }
  }
  tool "add" {
    default = { a = 1 }
  }
}
