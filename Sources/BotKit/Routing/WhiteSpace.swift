extension Unicode.Scalar {
  /// White space of any script. Nearly all that is asked for is ASCII, where no table need be searched.
  var isWhiteSpace: Bool {
    isASCII ? value == 0x20 || (0x9...0xD).contains(value) : properties.isWhitespace
  }
}
