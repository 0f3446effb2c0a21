server "github" {
  transport "stdio" {
    command = ["x"]
  }
  tiemout = "3s"
}
