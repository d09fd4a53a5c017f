import Glibc

/// The Debian package under test.
enum Package {
  /// What XMPPBOTD_DEB names, or one made of the programs under test. Those are not linked as a release is: they need
  /// Swift's libraries beside them.
  static let file = Result {
    if let path = getenv("XMPPBOTD_DEB") { return String(cString: path) }
    return try build(into: "package")
  }

  /// Installs it on a machine. Ours needs Swift's libraries; one for users brings all that no package of Debian's has.
  @discardableResult
  static func install(on machine: Machine) throws -> String {
    if getenv("XMPPBOTD_DEB") == nil { try machine.bringLibraries(of: programs) }
    try machine.bring(try file.get(), to: "/root/xmppbotd.deb")
    return try machine.run("dpkg", "--install", "/root/xmppbotd.deb")
  }

  /// The same, with a higher version.
  static let successor = Result {
    let folder = try Scratch.root.get() + "/successor"
    try Program.run(["/usr/bin/dpkg-deb", "--raw-extract", try file.get(), folder])
    try Program.run(["/bin/sed", "-i", "s/^Version: .*/&.1/", folder + "/DEBIAN/control"])
    try Program.run(["/usr/bin/dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", folder, folder + ".deb"])
    return folder + ".deb"
  }

  private static var programs: [String] {
    ["xmppbotd", "xmppbotctl", "xmppbotd-upload"].map { Bot.programs + "/" + $0 }
  }

  /// Makes the package, in a folder of ours with that name; returns its path.
  static func build(into name: String) throws -> String {
    let folder = try Scratch.root.get() + "/" + name
    // Quickly, not small.
    let output = try Program.run([
      "/usr/bin/env", "DPKG_DEB_COMPRESSOR_TYPE=gzip", "DPKG_DEB_COMPRESSOR_LEVEL=1",
      Repository.path("scripts/build-deb"), "--programs", Bot.programs, "--output", folder,
    ])
    guard let path = output.split(separator: "\n").last, path.hasPrefix(folder) else {
      throw Problem("build-deb named no package: \(output)")
    }
    return String(path)
  }
}

enum Repository {
  /// The path of a file of this repository.
  static func path(_ name: String) -> String {
    String(#filePath.prefix(#filePath.count - "Tests/SystemTests/Harness/Package.swift".count)) + name
  }
}
