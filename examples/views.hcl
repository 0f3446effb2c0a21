# Views of tools: hidden, renamed, with fixed and default arguments.
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
