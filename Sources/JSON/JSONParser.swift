internal import CJansson

extension JSON {
  /// How deep arrays and objects may be nested.
  public static let maximumDepth = 128

  /// Parses one JSON value of any kind, with nothing but white space around it.
  ///
  /// Stricter than RFC 8259 where other readers disagree: a key that is repeated in its object, an integer beyond 64
  /// bits, a number beyond a double's range, a NUL in a key and nesting beyond ``maximumDepth`` are errors. So are, by the
  /// standard, invalid UTF-8 and surrogates without their partner. NUL in other strings is accepted.
  public init(parsing text: [UInt8]) throws(JSONError) {
    var failure = json_error_t()
    let flags = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL
    let root = text.withUnsafeBytes { bytes in
      json_loadb(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, Int(flags), &failure)
    }
    guard let root else { throw JSONError(failure) }
    defer { json_decref(root) }
    try self.init(root, depth: 0)
  }

  /// ``init(parsing:)-([UInt8])`` of a string.
  public init(parsing text: String) throws(JSONError) { try self.init(parsing: Array(text.utf8)) }

  private init(_ value: UnsafeMutablePointer<json_t>, depth: Int) throws(JSONError) {
    switch value.pointee.type {
    case JSON_NULL: self = .null
    case JSON_TRUE: self = .bool(true)
    case JSON_FALSE: self = .bool(false)
    case JSON_INTEGER: self = .int(Int(json_integer_value(value)))
    case JSON_REAL: self = .double(json_real_value(value))
    case JSON_STRING: self = .string(String(json_string_value(value), length: json_string_length(value)))
    case JSON_ARRAY: self = .array(try Self.elements(of: value, depth: depth + 1))
    default: self = .object(JSONObject(unique: try Self.members(of: value, depth: depth + 1)))
    }
  }

  private static func elements(of array: UnsafeMutablePointer<json_t>, depth: Int) throws(JSONError) -> [JSON] {
    try checkDepth(depth)
    var elements: [JSON] = []
    elements.reserveCapacity(json_array_size(array))
    for index in 0..<json_array_size(array) {
      guard let element = json_array_get(array, index) else { break }
      elements.append(try JSON(element, depth: depth))
    }
    return elements
  }

  private static func members(
    of object: UnsafeMutablePointer<json_t>, depth: Int
  ) throws(JSONError) -> [JSONObject.Member] {
    try checkDepth(depth)
    var members: [JSONObject.Member] = []
    members.reserveCapacity(json_object_size(object))
    var iterator = json_object_iter(object)
    while let position = iterator, let value = json_object_iter_value(position) {
      let key = String(json_object_iter_key(position), length: json_object_iter_key_len(position))
      members.append((key, try JSON(value, depth: depth)))
      iterator = json_object_iter_next(object, position)
    }
    return members
  }

  private static func checkDepth(_ depth: Int) throws(JSONError) {
    if depth > maximumDepth {
      throw JSONError(line: nil, column: nil, reason: "nested deeper than \(maximumDepth) levels")
    }
  }
}

extension String {
  /// Copies text that jansson has checked to be UTF-8.
  fileprivate init(_ start: UnsafePointer<CChar>?, length: Int) {
    let bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : length)
    self.init(decoding: bytes, as: UTF8.self)
  }
}

extension JSONError {
  fileprivate init(_ error: json_error_t) {
    var error = error
    // It quotes the input, which may hold anything.
    let reason = String(cString: cjansson_error_text(&error)).unicodeScalars.map { scalar in
      scalar.properties.generalCategory == .control ? " " : Character(scalar)
    }
    self.init(
      line: error.line > 0 ? Int(error.line) : nil,
      column: error.line > 0 && error.column > 0 ? Int(error.column) : nil,
      reason: reason.isEmpty ? "no reason given" : String(reason))
  }
}
