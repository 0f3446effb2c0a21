gateway {
  http {
    auth "static_token" {
      token   = env("ALICE_TOKEN", "0123456789abcdef0123456789abcdef")
      subject = "alice"
      roles   = ["lead"]
    }
  }
}

console {
  admins = ["alice"]
}

policy {
  default = "allow"
  role "lead" {
  }
  confirm {
    tools = ["refund"]
    approver {
      roles = ["lead"]
    }
  }
}
