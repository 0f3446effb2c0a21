gateway {
  http {
    auth "static_tokens" {
      token = "of-nobody"
    }
    auth "saml" {
    }
    auth "none" {
    }
    auth {
    }
  }
}
