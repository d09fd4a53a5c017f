import CCurl
import Glibc
import Upload

/// One HTTP PUT of standard input, over verified TLS.
enum Transfer {
  /// What a server may answer, headers and body each: nobody reads it.
  private static let mostAnswer = 65_536
  /// Slower than this for half a minute, and it is given up.
  private static let slowest = 256

  /// Nil when the server has the file; else why not, in words for the operator.
  static func put(_ order: UploadOrder) -> String? {
    guard order.url.prefix(8).lowercased() == "https://" else { return "the upload's address is not https" }
    guard curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK, let curl = curl_easy_init() else {
      return "libcurl can't start"
    }
    defer { curl_easy_cleanup(curl) }
    var fields: UnsafeMutablePointer<curl_slist>?
    defer { curl_slist_free_all(fields) }
    // For a small file it is quicker to send than to ask whether it may be.
    let expectation = order.size < 1_048_576 ? ["Expect:"] : []
    for field in order.headers + ["Content-Type: \(order.contentType)"] + expectation {
      guard let longer = curl_slist_append(fields, field) else { return "there is no memory" }
      fields = longer
    }
    // And nothing else by any detour.
    guard ccurl_set_string(curl, CURLOPT_PROTOCOLS_STR, "https") == CURLE_OK,
      ccurl_set_long(curl, CURLOPT_FOLLOWLOCATION, 0) == CURLE_OK,
      ccurl_set_long(curl, CURLOPT_SSL_VERIFYPEER, 1) == CURLE_OK,
      ccurl_set_long(curl, CURLOPT_SSL_VERIFYHOST, 2) == CURLE_OK,
      ccurl_set_long(curl, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)) == CURLE_OK
    else { return "this libcurl can't verify servers" }
    if let caFile = order.caFile, ccurl_set_string(curl, CURLOPT_CAINFO, caFile) != CURLE_OK {
      return "ca-file \(caFile) can't be used"
    }
    ccurl_set_string(curl, CURLOPT_URL, order.url)
    ccurl_set_string(curl, CURLOPT_PROXY, "")
    ccurl_set_list(curl, CURLOPT_HTTPHEADER, fields)
    ccurl_set_long(curl, CURLOPT_UPLOAD, 1)
    ccurl_set_offset(curl, CURLOPT_INFILESIZE_LARGE, curl_off_t(order.size))
    ccurl_set_long(curl, CURLOPT_NOSIGNAL, 1)
    ccurl_set_long(curl, CURLOPT_CONNECTTIMEOUT, 20)
    ccurl_set_long(curl, CURLOPT_TIMEOUT, order.seconds)
    ccurl_set_long(curl, CURLOPT_LOW_SPEED_LIMIT, slowest)
    ccurl_set_long(curl, CURLOPT_LOW_SPEED_TIME, 30)
    // No more than was announced, should the file have grown.
    let left = counter(order.size)
    let taken = counter(0)
    defer {
      left.deallocate()
      taken.deallocate()
    }
    ccurl_set_pointer(curl, CURLOPT_READDATA, left)
    ccurl_set_transfer(curl, CURLOPT_READFUNCTION) { bytes, size, count, context in
      guard let left = context?.assumingMemoryBound(to: Int.self) else { return Int(CURL_READFUNC_ABORT) }
      while true {
        let got = read(STDIN_FILENO, bytes, min(size * count, left.pointee))
        if got < 0, errno == EINTR { continue }
        if got < 0 || (got == 0 && left.pointee > 0) { return Int(CURL_READFUNC_ABORT) }
        left.pointee -= got
        return got
      }
    }
    for (function, context) in [
      (CURLOPT_WRITEFUNCTION, CURLOPT_WRITEDATA), (CURLOPT_HEADERFUNCTION, CURLOPT_HEADERDATA),
    ] {
      ccurl_set_pointer(curl, context, taken)
      ccurl_set_transfer(curl, function) { _, size, count, context in
        guard let taken = context?.assumingMemoryBound(to: Int.self) else { return 0 }
        taken.pointee += size * count
        return taken.pointee > Transfer.mostAnswer ? 0 : size * count
      }
    }
    let result = curl_easy_perform(curl)
    guard result == CURLE_OK else { return reason(result) }
    var status = 0
    ccurl_get_long(curl, CURLINFO_RESPONSE_CODE, &status)
    switch status {
    case 200..<300: return nil
    case 300..<400: return "the upload server redirects (HTTP \(status)), which is not followed"
    case 413: return "the upload server finds the file too large (HTTP 413)"
    default: return "the upload server answered HTTP \(status)"
    }
  }

  private static func counter(_ value: Int) -> UnsafeMutablePointer<Int> {
    let counter = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    counter.initialize(to: value)
    return counter
  }

  private static func reason(_ code: CURLcode) -> String {
    let words = String(cString: curl_easy_strerror(code))
    return switch code {
    case CURLE_UNSUPPORTED_PROTOCOL: "the upload's address is not https"
    case CURLE_PEER_FAILED_VERIFICATION:
      "the upload server's certificate is not to be trusted (\(words)); is its authority in ca-file?"
    case CURLE_WRITE_ERROR: "the upload server's answer is too long"
    case CURLE_OPERATION_TIMEDOUT: "the upload took too long"
    case CURLE_ABORTED_BY_CALLBACK, CURLE_PARTIAL_FILE: "the file could not be read"
    default: "the upload failed: \(words)"
    }
  }
}
