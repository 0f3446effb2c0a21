plugins {
  required = {
    kitchen = { source = "./kitchen" }
  }
}

server "a" {
  transport "stdio" {
    command = "npx -y server"
    env     = ["A=b"]
  }
}

server "b" {
  transport "kitchen" {
    url      = ["x"]
    headers  = { Host = { name = "x" } }
    retries  = "many"
    ratio    = "half"
    verify   = "sure"
    features = ["a", ["b"]]
    bag      = [1]
    token    = { value = "hunter2" }
  }
}
