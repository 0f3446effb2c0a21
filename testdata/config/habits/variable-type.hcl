# says: remove it: the default says
variable "host" {
  type    = string
  default = "mcp.linear.app"
}
