import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("xmppbotd-archive(5)")
struct ManualTests {
  private static let page = ManualPage("xmppbotd-archive.5")

  /// `name TYPE` of each column, by table or view.
  private func columns(_ kind: StaticString) throws -> [String: [String]] {
    let folder = TemporaryFolder()
    let connection = try Connection(path: folder.file("archive.db"), access: .readWrite)
    try Schema.migrator.migrate(connection)
    var columns: [String: [String]] = [:]
    try connection.statement(kind).forEachRow { row in
      let type = row.text(at: 2)
      columns[row.text(at: 0), default: []].append(row.text(at: 1) + (type.isEmpty ? "" : " " + type))
    }
    withExtendedLifetime(folder) {}
    return columns
  }

  @Test("has the tables, with the columns and their types in order of age, and no others")
  func tables() throws {
    // The tables that SQLite keeps for itself are not for people.
    let tables = try columns(
      """
      SELECT t.name, c.name, c.type FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
      WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        AND t.name NOT LIKE 'message\\_text\\_%' ESCAPE '\\'
      ORDER BY c.cid
      """)
    let subsections = try #require(Self.page.subsections["TABLES"])
    #expect(Set(subsections) == Set(tables.keys))
    for table in subsections {
      let items = Self.page.items("Cm", in: "TABLES", table)
      #expect(items.map { $0.name + ($0.syntax.isEmpty ? "" : " " + $0.syntax) } == tables[table], "\(table)")
    }
  }

  @Test("has the views, with their columns, and no others")
  func views() throws {
    let views = try columns(
      """
      SELECT t.name, c.name, '' FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
      WHERE t.type = 'view' ORDER BY c.cid
      """)
    let subsections = try #require(Self.page.subsections["VIEWS"])
    #expect(Set(subsections) == Set(views.keys))
    for view in subsections {
      #expect(Self.page.items("Cm", in: "VIEWS", view).flatMap(\.names) == views[view], "\(view)")
    }
  }

  @Test("has every state of a message, and every key of meta")
  func values() throws {
    let state = try #require(Self.page.items("Cm", in: "TABLES", "message").first { $0.name == "state" })
    #expect(Self.page.items("Sy", inside: state).flatMap(\.names) == NewMessage.State.allCases.map(\.rawValue))
    #expect(Self.page.items("Li", in: "TABLES", "meta").flatMap(\.names) == MetaKey.allCases.map(\.rawValue))
  }

  @Test("is of the version that the program writes, and tells what each version was")
  func version() {
    let version = Schema.migrator.latestVersion
    #expect(Self.page.source.contains("the schema of version \(version), as\n"))
    #expect(Self.page.source.contains("\nis \(Schema.applicationID)\n"))
    #expect(Self.page.items.filter { $0.section == "VERSIONS" }.map(\.macro) == (1...version).map(String.init))
  }
}
