# says: without quotes around the whole: when = args\.NAME == 
policy {
  default = "deny"
  allow {
    tools = ["get_issue"]
    when  = "args.owner == \"acme\""
  }
}
