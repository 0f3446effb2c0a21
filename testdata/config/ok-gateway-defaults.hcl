gateway {
  http {
    per_ip {
    }
  }
}
