plugins {
  required = {
    broken = { source = "./broken" }
  }
}

server "a" {
  transport "broken" {
    url = "https://secret.example.com"
  }
}

server "b" {
  transport "sse" {
    url = "x"
  }
}

server "c" {
  transport "sse" {
    url = "x"
  }
}
