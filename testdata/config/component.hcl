plugins {
  required = {
    many = { source = "./many" }
    none = { source = "./none" }
  }
}

server "a" {
  transport "many" {
  }
}

server "b" {
  transport "many/tow" {
  }
}

server "c" {
  transport "none" {
  }
}
