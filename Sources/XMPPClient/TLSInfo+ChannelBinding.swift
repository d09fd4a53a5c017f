import SASL
import Transport

extension TLSInfo {
  /// What a login can be bound to.
  var channelBinding: ChannelBindingData {
    ChannelBindingData(tlsExporter: tlsExporter, tlsServerEndPoint: tlsServerEndPoint)
  }
}
