gateway {
  http {
    max_body      = 1048576
    max_in_flight = "many"
    legacy_sse    = "yes"
    timeouts {
      header = 10
      body   = "soon"
    }
    per_ip {
      rate  = 1000001
      burst = 1e99
    }
    sessions {
      max  = 100001
      idle = "0s"
      life = "-1h"
    }
  }
}
