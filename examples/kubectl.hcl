# A cluster, to look at. Options of kubectl as a whole are offered where they are
# named: which namespace may be chosen, which cluster may not.
server "k8s" {
  transport "cli" {
    command = ["kubectl"]
    only    = ["get", "describe", "logs", "top", "version"]
    globals = ["--namespace"]
    omit    = ["--raw", "--filename", "--kustomize"]
    read    = ["*"]
    output  = "auto"
  }
  timeouts {
    call = "90s" # what kubectl can do is found out with the first call
  }
}
