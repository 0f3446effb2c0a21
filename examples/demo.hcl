# The server that comes with the repository; "make demo" uses it.
server "demo" {
  transport "stdio" {
    command = ["../bin/junctor-demo"]
  }
}
