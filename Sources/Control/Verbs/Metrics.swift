import Daemon
import JSON

extension Verb {
  static let metrics = Verb(
    path: ["metrics"], summary: "What is measured, as OpenMetrics text",
    details: "The same is at /metrics where [http] is configured. docs/watching.md says what each is good for."
  ) { call throws(ControlFailure) in
    let text = try call.daemon().ask(["verb": "metrics"])["text"]?.stringValue ?? ""
    print(call.json ? JSON.object(["text": .string(text)]).text() : text, terminator: call.json ? "\n" : "")
  }
}
