# says: write listen = "127\.0\.0\.1:7575" in gateway \{ http
listen = "127.0.0.1:8080"
