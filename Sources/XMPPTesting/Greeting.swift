/// What nearly every conversation begins with.
public enum Greeting {
  /// From the dialling until the bot is online as bot@example.org/r and has said what it says then.
  public static let online =
    toBinding + """

      server: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>
       <jid>bot@example.org/r</jid></bind></iq>
      event: online as bot@example.org/r
      """ + "\n" + isOnline

  /// The same on a server with stream management (XEP-0198), which calls the session `sm1`.
  public static let managed =
    toLogin + "\n" + managedFeatures + """

      bot: <iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>r</resource></bind></iq>
      """ + "\n" + boundAndEnabled

  /// The features of such a server after the login.
  public static let managedFeatures = """
    server: <stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>
     <ver xmlns='urn:xmpp:features:rosterver'/><sm xmlns='urn:xmpp:sm:3'/></stream:features>
    """

  /// From the bot's wish for a resource until it is online, managed.
  public static let boundAndEnabled =
    """
    server: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>
     <jid>bot@example.org/r</jid></bind></iq>
    bot: <enable xmlns='urn:xmpp:sm:3' resume='true'/>
    server: <enabled xmlns='urn:xmpp:sm:3' id='sm1' resume='true'/>
    event: online as bot@example.org/r
    """ + "\n" + isOnline + """

      bot: <r xmlns='urn:xmpp:sm:3'/>
      server: <a xmlns='urn:xmpp:sm:3' h='4'/>
      """

  /// What the bot says when it is online.
  public static let isOnline = """
    bot: <iq type='get' id='$own' to='bot@example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
    bot: <iq type='get' id='$domain' to='example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
    bot: <iq type='get' id='$roster'><query xmlns='jabber:iq:roster' ver='$any'/></iq>
    bot: <presence><status>here</status><c xmlns='http://jabber.org/protocol/caps' hash='sha-1'
     node='https://example.org/bot' ver='$any'/></presence>
    """

  /// The server answers that it, and the account, can do nothing in particular.
  public static let answered = """
    server: <iq type='result' id='$own' from='bot@example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
    server: <iq type='result' id='$domain' from='example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
    """

  /// From the dialling until the bot wants the resource `r`. PLAIN, so that nothing in it varies.
  public static let toBinding = toLogin + "\n" + binding

  /// Features after the login, and the bot's wish.
  public static let binding = """
    server: <stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>
     <ver xmlns='urn:xmpp:features:rosterver'/></stream:features>
    bot: <iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>r</resource></bind></iq>
    """

  /// From the dialling until the server's header after the login.
  public static let toLogin =
    toTLS + """

      server: <stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>
       <mechanism>PLAIN</mechanism></mechanisms></stream:features>
      bot: <auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>AGJvdABzZWNyZXQ=</auth>
      server: <success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>
      bot: <stream:stream>
      server: <?xml version='1.0'?><stream:stream xmlns='jabber:client'
       xmlns:stream='http://etherx.jabber.org/streams' id='3' from='example.org' version='1.0'>
      """

  /// From the dialling until the bot's first header inside TLS is answered.
  public static let toTLS = """
    the bot connects
    bot: <stream:stream>
    server: <?xml version='1.0'?><stream:stream xmlns='jabber:client'
     xmlns:stream='http://etherx.jabber.org/streams' id='1' from='example.org' version='1.0'>
    server: <stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls></stream:features>
    bot: <starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>
    server: <proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>
    TLS is established
    bot: <stream:stream>
    server: <?xml version='1.0'?><stream:stream xmlns='jabber:client'
     xmlns:stream='http://etherx.jabber.org/streams' id='2' from='example.org' version='1.0'>
    """
}
