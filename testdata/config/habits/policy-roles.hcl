# says: write a block role "NAME" for each
policy {
  roles = {}
}
