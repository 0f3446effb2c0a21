server "${x}" {
}
