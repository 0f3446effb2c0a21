server "a" {
  enabled = "off"
  protcol = "auto"
  share   = "galaxy"
  transport "stdio" {
    comand = ["x"]
  }
  timeouts {
    call = "soon"
  }
}
