gateway {
  http {
    sessions {
      life = "100s"
    }
  }
}
