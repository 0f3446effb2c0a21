# says: write \\\\ for each backslash
# says: remove \\u0000
server "a" {
  transport "stdio" {
    command = ["C:\new\tools\run.exe", "C:\temp", "a\u0000b"]
    cwd     = "C:\new"
  }
}
server "b" {
  transport "stdio" {
    command = ["sh", "-c", "a\nb", "x\ty"]
  }
}
