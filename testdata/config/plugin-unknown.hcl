server "a" {
  transport "stdoi" {
    command = ["x"]
  }
}

server "b" {
  transport "acme" {
    url = "x"
  }
}

server "c" {
  transport "stdio/" {
    command = ["x"]
  }
}
