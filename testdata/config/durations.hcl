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

server "c" {
  transport "stdio" {
    command = ["x"]
  }
  timeouts {
    start   = "2m"
    install = "1m"
  }
}

server "d" {
  transport "stdio" {
    command = ["x"]
  }
  timeouts {
    install = "61m"
  }
}

server "e" {
  transport "stdio" {
    command = ["x"]
  }
  timeouts {
    instal = "5m"
  }
}
