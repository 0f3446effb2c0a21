# says: remove it: the block says it, as allow \{
policy {
  default = "deny"
  allow {
    effect  = "allow"
  }
}
