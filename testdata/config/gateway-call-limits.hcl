gateway {
  limits {
    per_tool {
      rate       = -1
      burst      = 0
      concurrent = 1.5
      wait       = "2m"
    }
    tool "create_issue" {
      rate = "many"
    }
    tool "github/" {
      roles = []
    }
    tool "github/*" {
      timeout = "601s"
      waits   = "1s"
    }
    tool {
    }
    per_client {
    }
  }
  limits {
  }
}
