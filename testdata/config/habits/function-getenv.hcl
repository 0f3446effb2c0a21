# says: write env\("NAME"\)
server "linear" {
  transport "http" {
    url = getenv("LINEAR_URL")
  }
}
