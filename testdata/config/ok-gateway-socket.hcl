gateway {
  http {
    listen  = "unix:/run/junctor/../junctor.sock"
    origins = []
    per_ip {
      rate = 2.5
    }
  }
}
