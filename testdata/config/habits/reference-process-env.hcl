# says: write env\("LINEAR_URL"\)
server "linear" {
  transport "http" {
    url = process.env.LINEAR_URL
  }
}
