import BotKit
import JID
import XML
import XMPPStanzas

/// Which commands a contact's menu has: those that the same contact may use in a chat. Another command is as unknown as
/// one that is not there.
struct MenuCatalog {
  let router: Router

  /// The contact that asks, by the full address that the server vouches for; nil where nobody can be judged: a server, the
  /// account itself, somebody behind a room.
  func requester(_ iq: IQ, account: JID) -> JID? {
    guard let from = iq.from, from.local != nil, !from.isSameAccount(as: account), router.rooms[from.bare] == nil else {
      return nil
    }
    return from
  }

  func isAllowed(_ command: Command, to contact: JID) -> Bool {
    let subject = AccessSubject(address: contact)
    return router.access.permission(
      of: subject, in: .chat, for: command.description, inRoster: router.facts.inRoster
    ).isGranted
  }

  /// The form of the command that `node` names; nil when there is none for this contact.
  func form(_ node: String, for contact: JID) -> CommandForm? {
    guard let command = router.commands[node], isAllowed(command, to: contact) else { return nil }
    return CommandForm(command)
  }

  /// What disco (XEP-0030) tells of the list of commands, or of one; `own`: our address; `room`: bytes that it may have. A
  /// list that is longer is cut, and its first commands are better than none.
  func answer(
    _ query: Element, node: String, to contact: JID?, own: String, room: Int
  ) -> Result<Element?, StanzaError> {
    let wantsItems = query.namespace == Namespace.discoItems
    guard node != Namespace.commands else {
      if wantsItems { return .success(list(node, items(for: contact, own: own), room: room)) }
      let identity = DiscoInfo.Identity(category: "automation", type: "command-list", name: "Commands")
      return .success(DiscoInfo(node: node, identities: [identity], features: [Namespace.commands]).element)
    }
    guard let contact, let form = form(node, for: contact) else {
      return .failure(StanzaError(.cancel, .itemNotFound))
    }
    if wantsItems { return .success(DiscoItems(node: node).element) }
    let identity = DiscoInfo.Identity(category: "automation", type: "command-node", name: form.title)
    return .success(DiscoInfo(node: node, identities: [identity], features: Menus.features).element)
  }

  private func list(_ node: String, _ items: [DiscoItems.Item], room: Int) -> Element {
    var query = DiscoItems(node: node).element
    var left = room - query.byteCount() - "</query>".utf8.count
    for element in DiscoItems(node: node, items: items).element.elements {
      left -= element.byteCount(parentNamespace: query.namespace)
      guard left >= 0 else { break }
      query.append(element)
    }
    return query
  }

  private func items(for contact: JID?, own: String) -> [DiscoItems.Item] {
    guard let contact else { return [] }
    return router.commands.all.filter { isAllowed($0, to: contact) }.map {
      DiscoItems.Item(jid: own, node: $0.description.name, name: CommandForm($0).title)
    }
  }
}
