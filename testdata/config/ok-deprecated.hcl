plugins {
  required = {
    kitchen = { source = "./kitchen" }
  }
}

server "d" {
  transport "kitchen" {
    url = "x"
    old = "y"
  }
}
