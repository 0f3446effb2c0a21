gateway {
  http {
    origins = [
      "*",
      "https://*.example.com",
      "localhost",
      "null",
      "",
      "https://app.example.com/",
      "https://app.example.com?x=1",
      "https://user@app.example.com",
      "https://app.example.com:",
      "https://app.example.com:70000",
      "https://app_example.com:443x",
      "https://::1",
      "https://",
      "://app.example.com",
      "https://App.example.com",
      "http://app.example.com:80",
      "https://app.example.com:443",
      null,
    ]
  }
}
