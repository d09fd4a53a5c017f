// swift-tools-version: 6.2
import PackageDescription

// Every Swift target: Swift 6 language mode, warnings are errors.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

/// A Swift target of ours; `name` is its folder under Sources/.
func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// The tests of `target`, in Tests/<target>Tests/. `data`: a folder there with files that they read.
func tests(_ target: String, _ dependencies: [Target.Dependency] = [], data: String? = nil) -> Target {
  .testTarget(
    name: target + "Tests", dependencies: [.byName(name: target)] + dependencies, exclude: data.map { [$0] } ?? [],
    swiftSettings: strict)
}

/// A C library from Debian; why each is here: docs/decisions/.
func system(_ name: String, pkgConfig: String?, apt: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt])])
}

let package = Package(
  name: "xmppbotd",
  products: [
    .executable(name: "xmppbotd", targets: ["xmppbotd"]),
    .executable(name: "xmppbotctl", targets: ["xmppbotctl"]),
    .executable(name: "xmppbotd-upload", targets: ["xmppbotd-upload"]),
    .library(name: "BotKit", targets: ["BotKit", "Daemon"]),
  ],
  targets: [
    system("CExpat", pkgConfig: "expat", apt: "libexpat1-dev"),
    system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
    system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
    system("CSystemd", pkgConfig: "libsystemd", apt: "libsystemd-dev"),
    system("CCares", pkgConfig: "libcares", apt: "libc-ares-dev"),
    system("CIDN2", pkgConfig: "libidn2", apt: "libidn2-dev"),
    system("CUnistring", pkgConfig: nil, apt: "libunistring-dev"),
    system("CJansson", pkgConfig: "jansson", apt: "libjansson-dev"),
    system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
    system("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
    .target(name: "CLinux"),

    // Imports run only downward in this order; scripts/lint checks it.
    library("XML", ["CExpat"]),
    library("JID", ["CIDN2", "CUnistring"]),
    library("Crypto", ["COpenSSL"]),
    library("JSON", ["CJansson"]),
    library("XMPPStanzas", ["XML", "JID", "Crypto"]),
    library("SASL", ["Crypto", "CUnistring"]),
    library("XMPPStream", ["XMPPStanzas", "SASL"]),
    library("EventLoop", ["CSystemd", "CLinux"]),
    library("Transport", ["EventLoop", "Crypto", "CCares", "CIDN2", "COpenSSL", "CLinux"]),
    library("XMPPClient", ["XMPPStream", "Transport"]),
    library("SQLite", ["CSQLite"]),
    library("Archive", ["SQLite", "JID"]),
    library("Upload", []),
    library("BotKit", ["JID", "JSON", "EventLoop", "Upload", "CLinux"]),
    library("Systemd", ["CSystemd", "CLinux"]),
    library("Configuration", []),
    library("OpenMetrics", []),
    library("HTTP", ["EventLoop", "JSON", "CMicroHTTPD", "CLinux"]),
    library("Webhooks", ["HTTP", "JID", "Crypto"]),
    library(
      "Daemon",
      [
        "XMPPClient", "Archive", "BotKit", "Systemd", "Configuration", "JSON", "OpenMetrics", "Webhooks", "CLinux",
      ]),
    library("Control", ["Daemon", "CLinux"]),
    library("TestSupport", []),
    .target(name: "CRecordingVFS", dependencies: ["CSQLite"], path: "Tests/CRecordingVFS"),
    library("XMPPTesting", ["EventLoop", "XMPPClient"]),
    .executableTarget(name: "xmppbotd", dependencies: ["Daemon"], swiftSettings: strict),
    .executableTarget(name: "example-bot", dependencies: ["BotKit", "Daemon"], swiftSettings: strict),
    .executableTarget(name: "xmppbotctl", dependencies: ["Control"], swiftSettings: strict),
    .executableTarget(name: "xmppbotd-upload", dependencies: ["Upload", "CCurl"], swiftSettings: strict),

    tests("XML"), tests("JID"), tests("Crypto"), tests("JSON"), tests("XMPPStanzas"), tests("SASL"),
    tests("XMPPStream", ["XMPPTesting"]), tests("EventLoop", ["XMPPTesting"]),
    tests("Transport", ["XMPPTesting", "COpenSSL"]),
    tests("XMPPClient", ["XMPPTesting"]), tests("SQLite", ["TestSupport"]),
    tests("Archive", ["TestSupport", "CRecordingVFS"]), tests("BotKit", ["XMPPTesting", "Upload", "CLinux"]),
    tests("Systemd"), tests("Configuration"), tests("OpenMetrics"), tests("HTTP", ["XMPPTesting", "TestSupport"]),
    tests("Webhooks", data: "Payloads"),
    tests("Daemon", ["XMPPTesting", "TestSupport", "Upload", "CLinux"]),
    tests("Control", ["XMPPTesting", "TestSupport"]),
    .testTarget(name: "SystemTests", dependencies: ["JSON", "CLinux"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
