plugins {
  required = {
    kitchen = { source = "./kitchen" }
  }
}

server "a" {
  transport "stdio" {
  }
}

server "b" {
  transport "kitchen" {
    url = null
    tls {
    }
    rule {
      max = 1
    }
    rule "a" "b" {
      max = 1
    }
  }
}
