notify {
  events = []
}
