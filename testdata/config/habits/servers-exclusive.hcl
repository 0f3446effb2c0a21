# says: write it in the managed configuration
servers {
  exclusive = true
}
