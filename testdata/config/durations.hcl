server "a" {
  transport "stdio" {
    command = ["x"]
  }
  idle = "25h"
  timeouts {
    start    = "11m"
    call     = "3 seconds"
    shutdown = "0s"
  }
}

server "b" {
  transport "stdio" {
    command = ["x"]
  }
  idle = "-1s"
  timeouts {
    start    = 30
    call     = ["1s"]
    shutdown = "61s"
  }
}
