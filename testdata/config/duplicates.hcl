# The second of two attributes is reported beside everything else.
locals {
  team = "a"
  team = "b"
}
server "a" {
  prefix  = "x"
  protcol = "auto"
  prefix  = "y"
  transport "kitchen" {
    tls {
      ca   = "x"
      pass = "hunter2"
      pass = "hunter3"
    }
  }
  timeouts {
    call = "soon"
  }
}
server "b" {
  share = "galaxy"
}
