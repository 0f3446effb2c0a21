gateway {
  http {
    auth "static_tokens" {
      token = "of-nobody"
    }
    auth "jwt" {
    }
    auth "none" {
    }
    auth {
    }
  }
}
