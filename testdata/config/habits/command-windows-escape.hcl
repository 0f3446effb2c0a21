# says: write \\\\ for a backslash, or / in a path
server "a" {
  transport "stdio" {
    command = ["C:\Users\x\run.exe"]
  }
}
