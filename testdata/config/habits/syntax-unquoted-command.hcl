# says: \["\.\.\.", "\.\.\."\] for several words
server "github" {
  transport "stdio" {
    command = npx -y server-github
  }
}
