# Read-only access to a cluster. Of kubectl's global options only --namespace is
# offered, so a model chooses the namespace but not the cluster. --raw, --filename,
# --kubeconfig and the like are dangerous and left out by default.
server "k8s" {
  transport "cli" {
    command = ["kubectl"]
    only    = ["get", "describe", "logs", "top", "version"]
    globals = ["--namespace"]
    read    = ["*"]
    output  = "auto"
  }
  timeouts {
    call = "90s" # the first call also discovers the commands of kubectl
  }
}
