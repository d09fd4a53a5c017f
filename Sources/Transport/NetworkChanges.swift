/// Reads the kernel's route messages (rtnetlink(7)) and finds the ones that mean "there may be a way out now".
///
/// Those are: a route to other machines, an address that was not there before, a link that is up again. What goes
/// away is no news here: the connection notices by itself. Repetitions, as IPv6 routers cause them every few minutes,
/// are passed over.
struct NetworkChanges {
  /// What is remembered is dropped beyond this count: the price is one needless attempt to connect.
  private static let memory = 1024

  private var addresses: Set<AddressKey> = []
  private var links: [UInt32: Bool] = [:]

  private struct AddressKey: Hashable {
    let interface: UInt32
    let prefixLength: UInt8
    let attributes: [UInt8]
  }

  /// Takes in one datagram of the kernel; true when it tells of a new way out. Broken messages end the reading.
  mutating func read(_ datagram: UnsafeRawBufferPointer) -> Bool {
    var rest = datagram[...]
    var found = false
    while rest.count >= Self.headerSize {
      let message = UnsafeRawBufferPointer(rebasing: rest)
      let length = Int(message.loadUnaligned(as: UInt32.self))
      guard length >= Self.headerSize, length <= message.count else { break }
      let type = message.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
      let body = UnsafeRawBufferPointer(rebasing: message[Self.headerSize..<length])
      if readMessage(type, body) { found = true }
      rest = rest.dropFirst((length + 3) & ~3)
    }
    return found
  }

  /// struct nlmsghdr.
  private static let headerSize = 16

  private mutating func readMessage(_ type: UInt16, _ body: UnsafeRawBufferPointer) -> Bool {
    switch type {
    case 16: readLink(body, isGone: false)  // RTM_NEWLINK
    case 17: readLink(body, isGone: true)  // RTM_DELLINK
    case 20: readAddress(body, isGone: false)  // RTM_NEWADDR
    case 21: readAddress(body, isGone: true)  // RTM_DELADDR
    case 24: Self.isRouteOut(body)  // RTM_NEWROUTE
    default: false
    }
  }

  /// struct ifinfomsg: family, padding, type (2), index (4), flags (4), change mask (4).
  private mutating func readLink(_ body: UnsafeRawBufferPointer, isGone: Bool) -> Bool {
    guard body.count >= 16 else { return false }
    let index = body.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
    let flags = body.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
    let isLoopback = flags & 0x8 != 0
    let isRunning = flags & 0x40 != 0 && !isGone
    if links.count >= Self.memory { links = [:] }
    let before = links.updateValue(isRunning, forKey: index)
    if isGone { links[index] = nil }
    return isRunning && before == false && !isLoopback
  }

  /// struct ifaddrmsg: family, prefix length, flags, scope, interface (4); then attributes, of which IFA_ADDRESS,
  /// IFA_LOCAL (1, 2) are the address.
  private mutating func readAddress(_ body: UnsafeRawBufferPointer, isGone: Bool) -> Bool {
    guard body.count >= 8 else { return false }
    let isTentative = body[2] & 0x40 != 0
    // RT_SCOPE_LINK or narrower: good for no way out.
    let isLocal = body[3] >= 253
    let key = AddressKey(
      interface: body.loadUnaligned(fromByteOffset: 4, as: UInt32.self), prefixLength: body[1],
      attributes: Self.address(UnsafeRawBufferPointer(rebasing: body[8...])))
    if isGone {
      addresses.remove(key)
      return false
    }
    // A tentative address is told again once it can be used (RFC 4862).
    guard !isTentative, !isLocal else { return false }
    if addresses.count >= Self.memory { addresses = [] }
    return addresses.insert(key).inserted
  }

  private static func address(_ attributes: UnsafeRawBufferPointer) -> [UInt8] {
    var rest = attributes[...]
    var found: [UInt8] = []
    while rest.count >= 4 {
      let attribute = UnsafeRawBufferPointer(rebasing: rest)
      let length = Int(attribute.loadUnaligned(as: UInt16.self))
      let type = attribute.loadUnaligned(fromByteOffset: 2, as: UInt16.self)
      guard length >= 4, length <= attribute.count else { break }
      if type == 1 || type == 2 { found += attribute[4..<min(length, 20)] }
      rest = rest.dropFirst((length + 3) & ~3)
    }
    return found
  }

  /// struct rtmsg: family, destination and source prefix lengths, TOS, table, protocol, scope, type, flags (4).
  /// A unicast route outside the local table, be it the default or not.
  private static func isRouteOut(_ body: UnsafeRawBufferPointer) -> Bool {
    body.count >= 12 && body[4] != 255 && body[7] == 1
  }
}
