extension JID {
  /// The address of the server that this one is on: the domain alone.
  public var server: JID {
    // A domain that was part of an address is an address.
    (try? JID(local: nil, domain: domain, resource: nil)) ?? self
  }
}
