console {
}
