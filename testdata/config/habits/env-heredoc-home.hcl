# says: write .*env\("HOME"\)
server "a" {
  transport "stdio" {
    command = ["sh", "-c", "ls ${HOME}"]
  }
}
