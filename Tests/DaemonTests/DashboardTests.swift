import JSON
import TestSupport
import Testing

/// The dashboard against Grafana's model of one (its documentation, "Dashboard JSON model"); that the metrics exist is with the
/// metrics' text.
@Suite("The Grafana dashboard")
struct DashboardTests {
  private let dashboard: JSON
  private let panels: [JSON]

  init() throws {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    dashboard = try JSON(
      parsing: String(decoding: readFile("\(root)/etc/grafana/xmppbotd.json"), as: UTF8.self))
    panels = dashboard["panels"]?.arrayValue ?? []
  }

  private var variables: [JSON] { dashboard["templating"]?["list"]?.arrayValue ?? [] }

  /// The names behind `$` and in `${}`.
  private func references(in text: String) -> [String] {
    text.split(separator: "$", omittingEmptySubsequences: false).dropFirst().map { rest in
      String(rest.drop { $0 == "{" }.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }
  }

  @Test(
    "it can be imported: it has no id of another Grafana, and a version of the schema that one of today brings up to date"
  )
  func head() throws {
    #expect(dashboard["id"] == nil || dashboard["id"] == .null)
    #expect(dashboard["uid"]?.stringValue == "xmppbotd" && dashboard["title"]?.stringValue == "xmppbotd")
    // 36: the data source is an object with a type and a uid, as it is here.
    #expect(try #require(dashboard["schemaVersion"]?.intValue) >= 36)
    #expect(panels.count > 10)
  }

  @Test("each panel is of a kind that Grafana brings along, has a place of its own, and an id of its own")
  func places() throws {
    #expect(Set(panels.map { $0["id"]?.intValue ?? -1 }).count == panels.count)
    var taken: Set<[Int]> = []
    for panel in panels {
      let title = panel["title"]?.stringValue ?? ""
      #expect(["stat", "timeseries"].contains(panel["type"]?.stringValue ?? ""), "\(title)")
      #expect(!title.isEmpty, "\(panel)")
      let sides = try ["x", "y", "w", "h"].map { try #require(panel["gridPos"]?[$0]?.intValue, "\(title)") }
      #expect(sides[0] >= 0 && sides[2] > 0 && sides[0] + sides[2] <= 24 && sides[3] > 0, "\(title)")
      for x in sides[0]..<(sides[0] + sides[2]) {
        for y in sides[1]..<(sides[1] + sides[3]) {
          #expect(taken.insert([x, y]).inserted, "\(title) lies on another")
        }
      }
    }
  }

  @Test("what is asked, is asked of the data source that the reader chose, for the bots that the reader chose")
  func sources() throws {
    for panel in panels {
      let targets = panel["targets"]?.arrayValue ?? []
      let ids = targets.compactMap { $0["refId"]?.stringValue }
      #expect(!ids.isEmpty && Set(ids).count == targets.count, "\(panel)")
      for asking in targets + [panel] {
        #expect(asking["datasource"] == ["type": "prometheus", "uid": "${datasource}"], "\(asking)")
      }
      for target in targets {
        let expression = target["expr"]?.stringValue ?? ""
        #expect(expression.contains(#"{instance=~"$instance""#), "\(expression)")
        #expect(expression.count { $0 == "(" } == expression.count { $0 == ")" }, "\(expression)")
      }
    }
  }

  @Test("each variable that is used is one that the dashboard has, or Grafana's own")
  func variablesExist() {
    let kinds = variables.map { $0["type"]?.stringValue ?? "" }
    #expect(kinds == ["datasource", "query"])
    let known = Set(variables.compactMap { $0["name"]?.stringValue }).union(["__rate_interval", "__all"])
    let used = references(in: dashboard.text())
    #expect(used.count > panels.count)
    #expect(Set(used).subtracting(known) == [])
  }
}
