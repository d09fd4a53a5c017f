import XML

/// XEP-0172 (1.1): the name that somebody goes by, for show only.
public enum Nickname {
  public static func element(_ name: String) -> Element { Element("nick", Namespace.nickname, text: name) }

  /// The name in a `<nick/>`; nil when it is none.
  public static func name(in element: Element) -> String? {
    element.isNamed("nick", Namespace.nickname) ? element.text : nil
  }
}
