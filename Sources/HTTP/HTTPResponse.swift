import JSON

/// What a client is answered.
public struct HTTPResponse: Sendable, Hashable {
  public var status: Int
  public var contentType: String
  public var body: [UInt8]
  /// Further header fields.
  public var fields: [Field] = []

  public struct Field: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  public init(_ status: Int, _ contentType: String, _ body: [UInt8]) {
    self.status = status
    self.contentType = contentType
    self.body = body
  }

  /// An object, on one line.
  public init(_ status: Int, _ json: JSON) {
    self.init(status, "application/json", json.utf8() + [0x0A])
  }

  /// What is wrong, why, and what to do about it.
  public init(refusing status: Int, _ thing: String, _ reason: String, remedy: String, _ fields: [Field] = []) {
    self.init(status, ["error": .string(thing), "reason": .string(reason), "remedy": .string(remedy)])
    self.fields = fields
  }
}
