import BotKit
import XMPPClient
import XMPPStanzas

/// Why a file is not on the server.
enum UploadFailure: Error, Sendable, Hashable {
  case noService
  /// Larger than the server takes, which is so many bytes, if it says so.
  case tooLarge(limit: Int?)
  /// The server gave no place for it.
  case refused(String)
  /// It could not be brought there.
  case failed(String)
  /// It can't be read, or may not be sent.
  case unreadable(String)
  case offline
  case busy
  /// The daemon is ending.
  case interrupted

  init(_ refusal: UploadRefusal) {
    self =
      switch refusal {
      case .noService: .noService
      case .tooLarge(let limit): .tooLarge(limit: limit)
      case .refused(let error): .refused(error.description)
      case .unusable(let fault): .refused(fault.description)
      }
  }

  /// For a contact: nothing about the machine.
  var forContact: String {
    switch self {
    case .noService: "there should be a file, but my server takes none"
    case .tooLarge(let limit):
      "there should be a file, but it is larger than my server takes\(limit.map { ", " + Self.words($0) } ?? "")"
    case .interrupted: "there should be a file, but the bot is restarting; send the command again in a moment"
    case .offline, .busy: "there should be a file, but it could not be sent; send the command again later"
    case .refused, .failed, .unreadable: "there should be a file, but it could not be sent, the log says why"
    }
  }

  private static func words(_ bytes: Int) -> String {
    switch bytes {
    case ..<10_240: "\(bytes) bytes"
    case ..<10_485_760: "\(bytes / 1024) K"
    default: "\(bytes / 1_048_576) M"
    }
  }
}

/// For the operator.
extension UploadFailure: CustomStringConvertible {
  var description: String {
    switch self {
    case .noService:
      "the server offers no file upload (XEP-0363); ask its operator for it, or send a link to a file elsewhere"
    case .tooLarge(let limit?):
      "it is too large: the server takes \(Self.words(limit)) (\(limit) bytes) at most; send less, or compress it"
    case .tooLarge(nil): "it is too large for the server; send less, or compress it"
    case .refused(let reason): "the server gave no place for it: \(reason)"
    case .failed(let reason): reason
    case .unreadable(let reason): reason
    case .offline: "the bot was offline for too long; try again when it is online"
    case .busy: "too many files are being sent; try again in a moment"
    case .interrupted: "the bot was stopped"
    }
  }
}
