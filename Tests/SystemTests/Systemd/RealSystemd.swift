import Testing

extension SystemTests {
  /// The package, installed on a machine that a real systemd runs, with a real server beside it. Where no such machine can
  /// be booted, none of it counts as passed: scripts/test says why.
  @Suite(
    "Under a real systemd", .serialized,
    .enabled(if: Machine.obstacle == nil, "Tests/Servers/container obstacle says why none can be booted here"))
  enum RealSystemd {}
}

typealias RealSystemd = SystemTests.RealSystemd
