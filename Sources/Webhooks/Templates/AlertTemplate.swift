import JSON

/// Alertmanager and Grafana, whose bodies are nearly the same: what fires, what is resolved, how bad it is, and where to look.
enum AlertTemplate {
  /// Alerts that are told one by one; the rest is counted.
  private static let most = 10

  static func alertmanager(_ body: JSON) throws(HookRefusal) -> Rendered {
    guard let alerts = body["alerts"]?.arrayValue else {
      throw .body("it has no `alerts`", "point a webhook_config of Alertmanager here")
    }
    return summary(alerts, link: body.link("externalURL"), more: body["truncatedAlerts"]?.intValue ?? 0)
  }

  static func grafana(_ body: JSON) throws(HookRefusal) -> Rendered {
    if let alerts = body["alerts"]?.arrayValue {
      return summary(alerts, link: body.link("externalURL"), more: body["truncatedAlerts"]?.intValue ?? 0)
    }
    // The alerts of before version 9.
    guard let title = body.line("title") ?? body.line("ruleName") else {
      throw .body("it has neither `alerts` nor a `title`", "use a contact point of the kind Webhook")
    }
    return Rendered(lines: [title, body.line("message", limit: 1_000), body.link("ruleUrl")])
  }

  private static func summary(_ alerts: [JSON], link: String?, more: Int) -> Rendered {
    if alerts.isEmpty { return Rendered(nothing: "there are no alerts in it") }
    if alerts.count == 1, more == 0 {
      let alert = alerts[0]
      return Rendered(lines: [title(alert), about(alert), values(alert), self.link(of: alert) ?? link])
    }
    let firing = alerts.count { isFiring($0) }
    let resolved = alerts.count - firing
    let counts = (firing > 0 ? ["\(firing) FIRING"] : []) + (resolved > 0 ? ["\(resolved) RESOLVED"] : [])
    var lines: [String?] = [counts.joined(separator: ", ")]
    for alert in alerts.prefix(most) { lines.append("- " + title(alert) + (about(alert).map { ": " + $0 } ?? "")) }
    let untold = max(0, alerts.count - most) + max(0, more)
    if untold > 0 { lines.append("and \(untold) more") }
    return Rendered(lines: lines + [link ?? self.link(of: alerts[0])])
  }

  private static func isFiring(_ alert: JSON) -> Bool { alert["status"]?.stringValue != "resolved" }

  /// `FIRING: InstanceDown, critical (web1:9100)`
  private static func title(_ alert: JSON) -> String {
    let name = alert.line("labels", "alertname") ?? "an alert"
    let severity = alert.line("labels", "severity", limit: 40).map { ", \($0)" } ?? ""
    let place = (alert.line("labels", "instance") ?? alert.line("labels", "job")).map { " (\($0))" } ?? ""
    return (isFiring(alert) ? "FIRING: " : "RESOLVED: ") + name + severity + place
  }

  private static func about(_ alert: JSON) -> String? {
    alert.line("annotations", "summary", limit: 500) ?? alert.line("annotations", "description", limit: 500)
      ?? alert.line("annotations", "message", limit: 500)
  }

  /// Grafana's: what was measured.
  private static func values(_ alert: JSON) -> String? {
    guard isFiring(alert), let values = alert["values"]?.objectValue else { return nil }
    let texts = values.prefix(5).compactMap { name, value in
      (value.intValue.map { "\($0)" } ?? value.doubleValue.map { "\($0)" }).map { "\(HookText.line(name, 40)) = \($0)" }
    }
    return texts.isEmpty ? nil : texts.joined(separator: ", ")
  }

  private static func link(of alert: JSON) -> String? {
    alert.link("panelURL") ?? alert.link("dashboardURL") ?? alert.link("generatorURL")
  }
}
