# says: write a block: allow \{ tools = 
policy {
  allow = ["*"]
}
