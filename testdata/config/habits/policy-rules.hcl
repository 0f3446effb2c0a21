# says: write a block for each rule: allow \{
policy {
  rules = []
}
