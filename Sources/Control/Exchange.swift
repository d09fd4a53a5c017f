import Configuration
import Crypto
import Daemon
import EventLoop
import Glibc
import JID
import SASL
import Transport
import XML
import XMPPClient
import XMPPStanzas
import XMPPStream

/// The account of the configuration, with its password and whom to trust: for verbs that go to the server themselves.
struct AccountAccess: Sendable {
  let settings: Settings
  let password: SecretBytes
  /// The file that it was read from.
  let passwordSource: String
  let trust: TLSContext

  init(_ call: Call) throws(ControlFailure) {
    settings = try call.settings()
    do throws(ConfigurationProblems) {
      let loaded = try Password.load(
        for: settings, environment: call.environment, forPassing: true,
        remedyWhenDenied: "use sudo (the password is for root and the bot alone)")
      password = SecretBytes(loaded.bytes)
      passwordSource = loaded.source
    } catch {
      throw ControlFailure(.configuration, error.description)
    }
    do throws(TLSError) {
      trust = try TLSContext(caFile: settings.account.caFile, pins: settings.account.publicKeyPins)
    } catch {
      throw ControlFailure(.configuration, error.description)
    }
  }
}

/// What is done once the stream has come as far as asked.
@LoopActor
protocol ExchangeStep: AnyObject {
  func begin(_ exchange: Exchange, features: StreamFeatures)
  func receive(_ element: Element, _ exchange: Exchange)
  /// What the stream tells on the way there.
  func observe(_ event: StreamLink.Event)
  /// Which servers will be tried, and whether SRV records named them.
  func planned(_ targets: [Endpoint], fromRecords: Bool)
}

extension ExchangeStep {
  func observe(_ event: StreamLink.Event) {}
  func planned(_ targets: [Endpoint], fromRecords: Bool) {}
}

/// One stream of xmppbotctl's own, from dialling to the end.
@LoopActor
final class Exchange {
  private let step: any ExchangeStep
  private var link: StreamLink?
  private var timer: TimerSource?
  private var result: ControlFailure?
  private var isDone = false

  /// Runs the loop on this thread until the exchange is over.
  nonisolated static func run(
    _ account: AccountAccess, goal: StreamMachine.Goal, floor: MechanismFloor? = nil,
    step: @escaping @Sendable () -> any ExchangeStep & Sendable
  ) throws(ControlFailure) {
    signal(SIGPIPE, SIG_IGN)
    let outcome = Outcome()
    EventLoop.main.post {
      outcome.exchange = Exchange(account, goal: goal, floor: floor, step: step()) { failure in
        outcome.failure = failure
        EventLoop.main.exit(0)
      }
    }
    _ = EventLoop.main.run()
    if let failure = LoopActor.assumeIsolated({ outcome.failure }) { throw failure }
  }

  @LoopActor private final class Outcome {
    var exchange: Exchange?
    var failure: ControlFailure?
    nonisolated init() {}
  }

  private let done: @LoopActor (ControlFailure?) -> Void

  private init(
    _ account: AccountAccess, goal: StreamMachine.Goal, floor: MechanismFloor?, step: any ExchangeStep,
    done: @escaping @LoopActor (ControlFailure?) -> Void
  ) {
    self.step = step
    self.done = done
    var options = SessionOptions(account.settings, resource: "xmppbotctl-" + Random.identifier(bytes: 6))
    options.priority = -1
    let credentials = XMPPStream.Credentials(password: account.password, floor: floor) {
      Base64.encode(Random.bytes(18))
    }
    let dialer = NetworkDialer(context: account.trust)
    dialer.onPlan = { step.planned($0, fromRecords: $1) }
    let link = StreamLink(
      StreamMachine.Account(jid: options.account, resource: options.resource, credentials: credentials), goal: goal,
      request: options.request, dialer: dialer, scheduler: LoopScheduler()
    ) { [weak self] event in
      self?.handle(event)
    }
    self.link = link
    timer = TimerSource(after: .seconds(60)) { [weak self] in
      self?.finish(ControlFailure(.timedOut, "the server did not answer within a minute"))
    }
    link.start()
  }

  func send(_ element: Element) { link?.send(element) }

  /// How the login was done, once it was.
  var login: Login? { link?.login }
  /// What the server offered for it.
  var loginFeatures: StreamFeatures? { link?.loginFeatures }

  /// The exchange is over; nil when all went well.
  func finish(_ failure: ControlFailure?) {
    guard !isDone else { return }
    isDone = true
    result = failure
    timer = nil
    if let link { link.close(.stopped) } else { done(failure) }
  }

  private func handle(_ event: StreamLink.Event) {
    step.observe(event)
    switch event {
    case .features(let features), .online(_, let features, _): step.begin(self, features: features)
    case .element(let element): step.receive(element, self)
    case .ended(let failure):
      link = nil
      if !isDone { result = ControlFailure(.failed, Terminal.safe(failure.description)) }
      isDone = true
      done(result)
    case .connected, .secured, .skipped, .early, .management, .resumptionFailed: break
    }
  }
}
