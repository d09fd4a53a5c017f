import Testing

/// The daemon as it was built, real servers on loopback, and contacts with a client that is not ours. One test after
/// another: they share the servers and the machine's cores.
@Suite("System", .serialized)
enum SystemTests {}
