import CSystemd

/// What stays the same on this machine, for names that must survive restarts and updates.
public enum MachineIdentity {
  /// 32 hexadecimal digits that only this application on this machine has; the machine's own id cannot be found from
  /// them (sd_id128_get_machine_app_specific(3)). Nil where `/etc/machine-id` is not set.
  public static func applicationID() -> String? {
    var application = sd_id128_t()
    var result = sd_id128_t()
    guard sd_id128_from_string("3704fc5389a245ba9800bd489316bfba", &application) >= 0,
      sd_id128_get_machine_app_specific(application, &result) >= 0
    else { return nil }
    var text = [CChar](repeating: 0, count: 33)
    sd_id128_to_string(result, &text)
    return String(decoding: text.prefix(32).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
