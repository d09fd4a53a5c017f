import XML

/// XEP-0004 (2.13.2): a form to fill in, one that was filled in, or a result in the shape of one.
public struct DataForm: Sendable, Hashable {
  public enum Kind: String, Sendable { case form, submit, cancel, result }

  public struct Option: Sendable, Hashable {
    public var label: String?
    public var value: String

    public init(_ value: String, label: String? = nil) {
      self.value = value
      self.label = label
    }
  }

  public struct Field: Sendable, Hashable {
    /// Section 3.3.
    public enum Kind: String, Sendable {
      case boolean, fixed, hidden
      case jidMulti = "jid-multi"
      case jidSingle = "jid-single"
      case listMulti = "list-multi"
      case listSingle = "list-single"
      case textMulti = "text-multi"
      case textPrivate = "text-private"
      case textSingle = "text-single"
    }

    /// The attribute `var`; only a `fixed` field may lack it.
    public var name: String?
    /// A field that was filled in need not say it.
    public var kind: Kind?
    public var label: String?
    public var isRequired = false
    /// Of `text-multi` one for each line.
    public var values: [String]
    public var options: [Option] = []

    public init(_ name: String?, _ kind: Kind? = nil, label: String? = nil, values: [String] = []) {
      self.name = name
      self.kind = kind
      self.label = label
      self.values = values
    }
  }

  public var kind: Kind
  public var title: String?
  public var instructions: String?
  public var fields: [Field]

  public init(_ kind: Kind, title: String? = nil, instructions: String? = nil, fields: [Field] = []) {
    self.kind = kind
    self.title = title
    self.instructions = instructions
    self.fields = fields
  }

  /// Reads `<x/>`; nil when it is no form, or its type none of the four.
  public init?(_ element: Element) {
    guard element.isNamed("x", Namespace.dataForms), let kind = element["type"].flatMap(Kind.init(rawValue:)) else {
      return nil
    }
    self.init(kind)
    for case .element(let child) in element.children where child.namespace == Namespace.dataForms {
      switch child.name {
      case "title": title = child.text
      case "instructions": instructions = instructions.map { $0 + "\n" + child.text } ?? child.text
      case "field": fields.append(Field(child))
      default: break
      }
    }
  }

  public var element: Element {
    var form = Element("x", Namespace.dataForms, [("type", kind.rawValue)])
    if let title { form.append(Element("title", Namespace.dataForms, text: title)) }
    if let instructions { form.append(Element("instructions", Namespace.dataForms, text: instructions)) }
    for field in fields { form.append(field.element) }
    return form
  }
}

extension DataForm.Field {
  init(_ element: Element) {
    self.init(element["var"], element["type"].flatMap(Kind.init(rawValue:)), label: element["label"])
    for case .element(let child) in element.children where child.namespace == Namespace.dataForms {
      switch child.name {
      case "required": isRequired = true
      case "value": values.append(child.text)
      case "option":
        if let value = child.child("value", Namespace.dataForms)?.text {
          options.append(DataForm.Option(value, label: child["label"]))
        }
      default: break
      }
    }
  }

  var element: Element {
    var field = Element(
      "field", Namespace.dataForms, [("var", name), ("type", kind?.rawValue), ("label", label)])
    if isRequired { field.append(Element("required", Namespace.dataForms)) }
    for value in values { field.append(Element("value", Namespace.dataForms, text: value)) }
    for option in options {
      field.append(
        Element(
          "option", Namespace.dataForms, [("label", option.label)],
          [Element("value", Namespace.dataForms, text: option.value)]))
    }
    return field
  }
}
