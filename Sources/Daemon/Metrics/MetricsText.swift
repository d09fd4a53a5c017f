import EventLoop
import OpenMetrics

extension Daemon {
  /// Everything that is measured, as OpenMetrics text. docs/watching.md says what each is good for.
  var metricsText: String {
    var writer = OpenMetricsWriter()
    writer.family("xmppbotd_build", .info, "The version that runs.")
    writer.sample(1, ["version": Product.version])
    writer.family("xmppbotd_uptime", .gauge, unit: .seconds, "How long the daemon has been running.")
    writer.sample(started.duration(to: .now) / .seconds(1))
    writeStreams(to: &writer)
    writeMessages(to: &writer)
    writeCommands(to: &writer)
    writeArchive(to: &writer)
    writeHandlers(to: &writer)
    web.writeMetrics(to: &writer)
    ProcessFigures.read().write(to: &writer, started: startTime)
    return writer.end()
  }

  /// Seconds since 1970.
  private var startTime: Double {
    Double(surroundings.wallClock()) / 1_000_000 - started.duration(to: .now) / .seconds(1)
  }

  private func writeStreams(to writer: inout OpenMetricsWriter) {
    writer.family("xmppbotd_online", .gauge, "1 when the bot is online, 0 when it is not.")
    writer.sample(session.isOnline ? 1 : 0)
    writer.family("xmppbotd_reconnects", .counter, "Streams begun anew after the first, the session lost.")
    writer.sample(max(0, onlineCount - 1 - resumedCount))
    writer.family("xmppbotd_resumes", .counter, "Streams that took up their session again (XEP-0198).")
    writer.sample(resumedCount)
    writer.family("xmppbotd_disconnects", .counter, "Streams that ended by themselves, and attempts that failed.")
    writer.sample(flow.metrics.disconnects)
    writer.family("xmppbotd_contacts", .gauge, "Contacts in the bot's roster.")
    writer.sample(session.roster.items.count)
    writer.family("xmppbotd_rooms_wanted", .gauge, "Rooms that the bot is to be in.")
    writer.sample(roomsWanted)
    writer.family("xmppbotd_rooms_joined", .gauge, "Rooms that the bot is in.")
    writer.sample(roomsJoined)
    guard let end = certificateEnd else { return }
    writer.family(
      "xmppbotd_certificate_remaining", .gauge, unit: .seconds,
      "How long the certificate of the XMPP server is valid from now on; below 0 it has expired.")
    writer.sample(Double(end) - Double(surroundings.wallClock()) / 1_000_000)
  }

  private func writeMessages(to writer: inout OpenMetricsWriter) {
    writer.family("xmppbotd_messages_received", .counter, "Messages that came in and are in the archive.")
    writer.sample(flow.metrics.received)
    writer.family("xmppbotd_messages_sent", .counter, "Messages handed to the server.")
    writer.sample(flow.outbox.transmitted)
    writer.family("xmppbotd_messages_failed", .counter, "Messages of the bot's that came back, or can't be sent.")
    writer.sample(flow.outbox.failed)
    writer.family("xmppbotd_outbox_messages", .gauge, "Messages of the bot's that the server does not have yet.")
    writer.sample(flow.outbox.waiting)
    writer.family("xmppbotd_unknown_words", .counter, "Messages answered that they are no command.")
    writer.sample(flow.metrics.unknown)
    writer.family("xmppbotd_rate_limited", .counter, "Messages that were over a rate limit, or another bot's.")
    writer.sample(flow.metrics.limited)
  }

  private func writeCommands(to writer: inout OpenMetricsWriter) {
    writer.family("xmppbotd_commands", .counter, "Commands of contacts, and how they ended.")
    for (command, result, count) in flow.metrics.commands {
      writer.sample(count, ["command": command, "result": result.word])
    }
    writer.family("xmppbotd_commands_running", .gauge, "Commands that run now.")
    writer.sample(dispatcher.running)
    writer.family("xmppbotd_commands_waiting", .gauge, "Commands that wait for a place to run.")
    writer.sample(dispatcher.queued)
    writer.family(
      "xmppbotd_answer_latency", .histogram, unit: .seconds,
      "From the arrival of a message to its answer in the archive: known at once, or of a program.")
    writer.sample(flow.metrics.immediate, ["kind": "immediate"])
    writer.sample(flow.metrics.waiting, ["kind": "program"])
  }

  private func writeArchive(to writer: inout OpenMetricsWriter) {
    writer.family("xmppbotd_archive_size", .gauge, unit: .bytes, "The archive's file and its write-ahead log.")
    writer.sample(archiveBytes)
    if let rows = archiveRows.estimate(total: flow.archived, now: .now) {
      writer.family("xmppbotd_archive_messages", .gauge, "Messages in the archive, counted every ten minutes.")
      writer.sample(rows)
    }
    writer.family("xmppbotd_archive_fault", .gauge, "1 while the archive can't be written.")
    writer.sample(gate.fault == nil ? 0 : 1)
  }

  private func writeHandlers(to writer: inout OpenMetricsWriter) {
    let handlers = longRunning.status
    guard !handlers.isEmpty else { return }
    writer.family("xmppbotd_handler_up", .gauge, "1 when the handler runs.")
    for handler in handlers { writer.sample(handler.isRunning ? 1 : 0, ["handler": handler.name]) }
    writer.family("xmppbotd_handler_restarts", .counter, "How often the handler was started again.")
    for handler in handlers { writer.sample(handler.restarts, ["handler": handler.name]) }
  }
}

extension ProcessFigures {
  /// Under the names that all Prometheus clients use. `started`: seconds since 1970.
  fileprivate func write(to writer: inout OpenMetricsWriter, started: Double) {
    if let residentMemory {
      writer.family("process_resident_memory", .gauge, unit: .bytes, "Memory that is in use.")
      writer.sample(residentMemory)
    }
    if let virtualMemory {
      writer.family("process_virtual_memory", .gauge, unit: .bytes, "Memory that is mapped.")
      writer.sample(virtualMemory)
    }
    if let processorTime {
      writer.family("process_cpu", .counter, unit: .seconds, "Processor time of all threads.")
      writer.sample(processorTime)
    }
    if let openDescriptors {
      writer.family("process_open_fds", .gauge, "Open descriptors.")
      writer.sample(openDescriptors)
    }
    if let allowedDescriptors {
      writer.family("process_max_fds", .gauge, "Descriptors that may be open.")
      writer.sample(allowedDescriptors)
    }
    writer.family("process_start_time", .gauge, unit: .seconds, "When the process was started, since 1970.")
    writer.sample(started)
  }
}
