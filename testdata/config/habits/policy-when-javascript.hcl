# says: write == to compare
policy {
  default = "deny"
  allow {
    tools = ["get_issue"]
    when  = args.owner === "acme"
  }
}
