server "a" {
}
