gateway {
  http {
    tls {
      cert = ""
      key  = file("included.txt")
    }
  }
}
