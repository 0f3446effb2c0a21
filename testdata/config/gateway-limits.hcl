gateway {
  http {
    max_body      = "17MiB"
    max_in_flight = 0
    timeouts {
      header    = "0s"
      body      = "601s"
      send      = "11m"
      keepalive = "-1s"
      drain     = "1h"
    }
    per_ip {
      rate        = -1
      burst       = 0
      connections = -1
    }
    sessions {
      store  = "redis"
      max    = -1
      idle   = "86401s"
      life   = "721h"
      events = 0.5
    }
  }
}
