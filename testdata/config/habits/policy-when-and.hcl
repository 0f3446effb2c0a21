# says: write && in place of and
policy {
  default = "deny"
  allow {
    tools = ["get_issue"]
    when  = args.owner == "acme" and args.repo == "site"
  }
}
