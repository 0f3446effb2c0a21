gateway {
  http {
    sessions {
      idle = "2h"
      life = "1h"
    }
  }
}
