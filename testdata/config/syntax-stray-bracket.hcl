server "a" {
}
}
