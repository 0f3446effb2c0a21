# says: write it in gateway \{ http
http {
  listen = "127.0.0.1:8080"
}
