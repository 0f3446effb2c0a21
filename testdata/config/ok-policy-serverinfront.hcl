server "demo" {
  transport "stdio" {
    command = ["demo"]
  }
}
server "files" {
  prefix = "fs"
  transport "stdio" {
    command = ["files"]
  }
}
policy {
  default = "allow"
  deny {
    tools = ["demo/add", "files/*", "fs__delete_*", "other/add", "a/b", "demo", "demo/", "files__x"]
  }
}
