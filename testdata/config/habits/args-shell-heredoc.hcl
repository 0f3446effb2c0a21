# says: \$\$\{ is a literal \$\{
server "a" {
  transport "stdio" {
    command = ["sh", "-c", <<EOT
      echo ${NAME:-y}
    EOT
    ]
  }
}
