server "a" {
  transport "stdio" {
    comand = ["x"]
  }
  prefix = "a b" # why not
  tiemouts {
    call = "5s"
  }
}
