package audit

import (
	"encoding/json"
	"fmt"
)

// This file writes rows as events of the Open Cybersecurity Schema Framework, version
// 1.3.0: requests as the class API Activity (6003), what clients prove and people log in to
// as Authentication (3002), and everything else as Application Lifecycle (6002).

type object = map[string]any

const (
	ocsfVersion         = "1.3.0"
	classAPI            = 6003
	classAuthentication = 3002
	classLifecycle      = 6002
)

// ocsfOf returns the OCSF event of a row. The functions of this file are pure. Users feed the
// result to other programs, so members may be added but not changed.
func ocsfOf(r *Row, version string) object {
	class, activity := ocsfClass(r)
	o := object{
		"class_uid": class, "category_uid": class / 1000, "activity_id": activity, "type_uid": class*100 + activity,
		"time": r.Time.UnixMilli(), "severity_id": ocsfSeverity(r), "status_id": 1, "status": "Success",
		"metadata": object{
			"version": ocsfVersion, "uid": fmt.Sprint(r.Seq),
			"sequence": r.Seq, "correlation_uid": r.RequestID, "log_name": "junctor audit",
			"product": object{"name": "Junctor", "vendor_name": "Junctor", "version": version},
		},
		"actor": object{"user": object{"name": r.Subject, "domain": r.Tenant},
			"app_name": r.Client, "session": object{"uid": r.Session, "issuer": r.Issuer}},
		"unmapped": ocsfRest(r),
	}
	if r.Outcome.Failed() || r.Kind == PluginCrash || r.Kind == Quarantine || r.Kind == Loss || r.Kind == AuthFailure {
		o["status_id"], o["status"], o["status_code"], o["status_detail"] = 2, "Failure", r.Code, r.Message
	}
	if r.DurationMS > 0 {
		o["duration"] = int64(r.DurationMS)
	}
	switch class {
	case classAPI:
		o["api"] = object{"operation": r.Method,
			"service": object{"name": r.Server}, "request": object{"uid": r.RequestID}}
		o["resources"] = []object{{"type": r.ItemKind, "name": r.Item, "namespace": r.Server}}
		o["src_endpoint"] = ocsfEndpoint(r)
		o["action_id"], o["action"], o["disposition_id"] = 1, "Allowed", 1
		if r.Outcome.Denied() {
			o["action_id"], o["action"], o["disposition_id"] = 2, "Denied", 2
		}
	case classAuthentication:
		o["src_endpoint"], o["user"] = ocsfEndpoint(r), object{"name": r.Subject, "domain": r.Tenant}
		o["service"] = object{"name": r.Server}
		o["message"] = r.Message
	default:
		o["app"] = object{"name": "junctor", "vendor_name": "Junctor"}
		o["message"] = r.Detail
	}
	return o
}

// ocsfClass returns the class and the activity of a row.
func ocsfClass(r *Row) (class, activity int) {
	switch r.Kind {
	case Request, Approval:
		switch r.Access {
		case "read":
			return classAPI, 2
		case "write":
			return classAPI, 3
		}
		return classAPI, 99
	case AuthFailure, Login:
		return classAuthentication, 1
	case Logout:
		return classAuthentication, 2
	case PluginStart:
		return classLifecycle, 3
	case PluginCrash, Quarantine:
		return classLifecycle, 4
	}
	return classLifecycle, 99
}

func ocsfSeverity(r *Row) int {
	switch {
	case r.Kind == Loss, r.Kind == Quarantine, r.Kind == AuthFailure, r.Outcome.Denied():
		return 3 // medium
	case r.Outcome.Failed(), r.Kind == PluginCrash, r.Kind == ToolChange:
		return 2 // low
	}
	return 1 // informational
}

func ocsfEndpoint(r *Row) object {
	if r.Address == "" || r.Address == "local" {
		return object{"name": "localhost"}
	}
	return object{"ip": r.Address}
}

// ocsfRest returns the fields of a row that the schema has no place for.
func ocsfRest(r *Row) object {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // rows were read from JSON
	}
	o := object{}
	_ = json.Unmarshal(b, &o)
	for _, f := range fields() {
		if f.OCSF != "" {
			delete(o, f.Name)
		}
	}
	return o
}
