import Testing

@testable import OpenMetrics

@Suite("OpenMetrics text")
struct OpenMetricsWriterTests {
  private func written(_ write: (inout OpenMetricsWriter) -> Void) -> String {
    var writer = OpenMetricsWriter()
    write(&writer)
    return writer.end()
  }

  @Test("nothing is a text, too: its end")
  func empty() {
    #expect(written { _ in } == "# EOF\n")
  }

  @Test("a counter's samples end with _total, an info's with _info, a gauge's with nothing")
  func suffixes() {
    let text = written { writer in
      writer.family("a", .counter, "Counted.")
      writer.sample(7)
      writer.family("b", .info, "Said.")
      writer.sample(1, ["version": "1.0"])
      writer.family("c", .gauge, "Measured.")
      writer.sample(-0.5)
    }
    #expect(
      text == """
        # TYPE a counter
        # HELP a Counted.
        a_total 7
        # TYPE b info
        # HELP b Said.
        b_info{version="1.0"} 1
        # TYPE c gauge
        # HELP c Measured.
        c -0.5
        # EOF

        """)
  }

  @Test("a unit is the end of the name, once, and before _total")
  func units() {
    let text = written { writer in
      writer.family("size_bytes", .gauge, unit: .bytes, "How large.")
      writer.sample(1)
      writer.family("cpu", .counter, unit: .seconds, "How long.")
      writer.sample(2.25)
    }
    #expect(text.contains("# TYPE size_bytes gauge\n# UNIT size_bytes bytes\n"))
    #expect(text.contains("# UNIT cpu_seconds seconds\n# HELP cpu_seconds How long.\ncpu_seconds_total 2.25\n"))
  }

  @Test("quotes, backslashes and line breaks in labels and help stay inside of them")
  func escaping() {
    let text = written { writer in
      writer.family("a", .gauge, "He said \"a\\b\"\nand more.")
      writer.sample(1, ["x": "\"} 5\n# EOF\r\\"])
    }
    #expect(text.contains(#"# HELP a He said \"a\\b\"\nand more."#))
    #expect(text.contains(#"a{x="\"} 5\n# EOF \\"} 1"#))
    #expect(text.split(separator: "\n").count == 4)
  }

  @Test("what is no number is left out; an infinity is one")
  func special() {
    let text = written { writer in
      writer.family("a", .gauge, "A.")
      writer.sample(Double.nan)
      writer.sample(Double.infinity)
    }
    #expect(text.contains("A.\na +Inf\n# EOF"))
  }

  @Test("a histogram's buckets hold what is not above their bound, each with those before it")
  func histogram() {
    var histogram = Histogram(bounds: [1_000, 500_000])
    for time: UInt64 in [0, 1_000, 1_001, 500_001] { histogram.observe(microseconds: time) }
    let text = written { writer in
      writer.family("a", .histogram, unit: .seconds, "A.")
      writer.sample(histogram, ["kind": "k"])
    }
    #expect(
      text.hasSuffix(
        """
        # HELP a_seconds A.
        a_seconds_bucket{kind="k",le="0.001"} 2
        a_seconds_bucket{kind="k",le="0.5"} 3
        a_seconds_bucket{kind="k",le="+Inf"} 4
        a_seconds_count{kind="k"} 4
        a_seconds_sum{kind="k"} 0.502002
        # EOF

        """))
    #expect(histogram.count == 4)
  }

  @Test("the bounds for answers grow, and the last is the usual time-out of a command")
  func bounds() {
    let bounds = Histogram.latencyBounds
    #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 })
    #expect(bounds.last == 60_000_000)
  }
}
