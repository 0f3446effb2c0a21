# A cluster, to look at. Options of kubectl as a whole are offered where they are
# named: which namespace may be chosen, which cluster may not. --raw, --filename,
# --kubeconfig and the like are dangerous, and left out by themselves.
server "k8s" {
  transport "cli" {
    command = ["kubectl"]
    only    = ["get", "describe", "logs", "top", "version"]
    globals = ["--namespace"]
    read    = ["*"]
    output  = "auto"
  }
  timeouts {
    call = "90s" # what kubectl can do is found out with the first call
  }
}
