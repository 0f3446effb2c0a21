server "my__server" {
  transport "stdio" {
    command = ["x"]
  }
}

server "a-very-long-name-for-a-server-that-goes-on" {
  transport "stdio" {
    command = ["x"]
  }
}
