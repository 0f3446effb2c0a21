servers {
  github {
    command = ["x"]
  }
}
