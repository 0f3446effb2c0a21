package telemetry

import (
	"fmt"
	"strconv"
	"strings"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// A signal is what can be exported: traces or metrics. The functions of this file read the
// variables of OpenTelemetry, and keep no state.
type signal struct {
	name string // as in the names of variables
	on   bool
}

// Asked reports whether the environment asks for an export over OTLP. The error says why
// something cannot be exported as it asks.
func Asked(lookup func(string) (string, bool)) (bool, error) {
	traces, metrics, problem := signals(lookup)
	return traces.on || metrics.on, problem
}

// signals returns which signals the environment asks to export, and why one of them
// cannot be.
func signals(lookup func(string) (string, bool)) (traces, metrics signal, problem error) {
	get := func(name string) string { v, _ := lookup(name); return strings.TrimSpace(v) }
	traces, metrics = signal{name: "TRACES"}, signal{name: "METRICS"}
	if strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") {
		return traces, metrics, nil
	}
	for _, s := range []*signal{&traces, &metrics} {
		endpoint := get("OTEL_EXPORTER_OTLP_"+s.name+"_ENDPOINT") + get("OTEL_EXPORTER_OTLP_ENDPOINT")
		exporter := get("OTEL_" + s.name + "_EXPORTER")
		if endpoint == "" || exporter != "" && exporter != "otlp" {
			continue
		}
		protocol := get("OTEL_EXPORTER_OTLP_" + s.name + "_PROTOCOL")
		if protocol == "" {
			protocol = get("OTEL_EXPORTER_OTLP_PROTOCOL")
		}
		if protocol != "" && protocol != "http/protobuf" {
			problem = fmt.Errorf("the protocol %q of OTLP is not supported", clip(protocol))
			continue
		}
		s.on = true
	}
	return traces, metrics, problem
}

// clip shortens a text of the environment for a message.
func clip(s string) string { return s[:min(len(s), 40)] }

// sampler returns the sampler that OTEL_TRACES_SAMPLER names. Clients do not decide: the
// sampler is asked about a request with a parent as about one without.
func sampler(lookup func(string) (string, bool)) (sdktrace.Sampler, error) {
	name, _ := lookup("OTEL_TRACES_SAMPLER")
	arg, given := lookup("OTEL_TRACES_SAMPLER_ARG")
	kind, based := strings.CutPrefix(strings.TrimSpace(name), "parentbased_")
	var root sdktrace.Sampler
	var err error
	switch kind {
	case "", "always_on":
		root, based = sdktrace.AlwaysSample(), true
	case "always_off":
		root = sdktrace.NeverSample()
	case "traceidratio":
		ratio := 1.0
		if given && arg != "" {
			if ratio, err = strconv.ParseFloat(strings.TrimSpace(arg), 64); err != nil || !(ratio >= 0 && ratio <= 1) {
				ratio, err = 1, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1")
			}
		}
		root = sdktrace.TraceIDRatioBased(ratio)
	default:
		root, based = sdktrace.AlwaysSample(), true
		err = fmt.Errorf("OTEL_TRACES_SAMPLER names no sampler: %q", clip(name))
	}
	if !based {
		return root, err
	}
	return sdktrace.ParentBased(root, sdktrace.WithRemoteParentSampled(root),
		sdktrace.WithRemoteParentNotSampled(root)), err
}
