plugins {
  required = {
    kitchen = { source = "./kitchen" }
  }
}

server "a" {
  transport "kitchen" {
    url      = "x"
    mode     = "quick"
    wait     = "soon"
    grace    = "hunter2"
    retries  = 1.5
    vars     = ["GOOD", "not good"]
    features = ["a", null]
    headers  = { Host = null }
  }
}
