policy {
  default = "allow"
  deny {
    tools  = ["delete_*"]
    name   = "no-deletions"
    reason = ""
  }
  role "intern" {
    deny {
      tools  = ["create_*"]
      name   = "no-deletions"
      reason = "line\nbreak"
    }
    deny {
      tools = ["drop_*"]
      name  = ""
    }
    deny {
      tools = ["wipe_*"]
      nam   = "x"
    }
  }
}
