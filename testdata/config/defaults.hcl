defaults {
  share    = "glob"
  idle     = "soon"
  pass_env = ["NOT A NAME", 5]
  env      = ["LANG=C"]
  prefix   = "x"
  command  = ["x"]
  timeouts {
    start  = "1h"
    call   = 5
    strat  = "1s"
  }
  transport "stdio" {
    command = ["x"]
  }
}

server "a" {
  transport "stdio" {
    command = ["x"]
  }
}

server "b" {
  transport "stdio" {
    command = ["x"]
  }
}
