plugins {
  required = {
    kitchen = { source = "./kitchen" }
  }
}

server "a" {
  transport "stdio" {
    comand = ["x"]
  }
}

server "b" {
  transport "kitchen" {
    url = "x"
    tls {
      ca       = "x"
      password = "hunter2"
    }
    ruel "x" {
      max = 1
    }
    headers {
      Host = "x"
    }
    tls = { ca = "x" }
  }
}
