# says: write origins = \["https://
gateway {
  http {
    cors = ["https://app.example.com"]
  }
}
