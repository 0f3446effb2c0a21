# A block without metrics is allowed.
telemetry {
}
