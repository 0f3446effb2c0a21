# The demo server of the repository, built and used by "make demo".
server "demo" {
  transport "stdio" {
    command = ["../bin/junctor-demo"]
  }
}
