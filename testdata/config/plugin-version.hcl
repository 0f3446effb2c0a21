plugins {
  required = {
    kitchen = { source = "./kitchen", version = "~> 2.0" }
    odd     = { source = "./odd" }
    many    = { source = "./many", version = ">= 2" }
  }
}

server "a" {
  transport "kitchen" {
    url = "x"
  }
}

server "b" {
  transport "odd" {
  }
}

server "c" {
  transport "many/two" {
  }
}
