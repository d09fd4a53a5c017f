import JSON

/// GitLab's webhooks: `object_kind` says what happened.
enum GitLabTemplate {
  static func render(_ body: JSON, event: String?) throws(HookRefusal) -> Rendered {
    guard
      let kind = body.line("object_kind", limit: 40) ?? body.line("event_name", limit: 40)
        ?? event.map({ HookText.line($0, 40) })
    else {
      throw .body("it has no `object_kind`", "point a webhook of GitLab here")
    }
    switch kind {
    case "push", "tag_push": return push(body, isTag: kind == "tag_push")
    case "issue", "incident", "work_item":
      let type = body.line("object_attributes", "type", limit: 40)?.lowercased()
      return thing(body, type ?? kind.replacing("_", with: " "), sign: "#")
    case "merge_request": return thing(body, "merge request", sign: "!")
    case "note": return note(body)
    case "pipeline": return pipeline(body)
    case "build": return job(body)
    case "release":
      return Rendered(
        lines: [
          "\(project(body)): release \(body.line("tag") ?? "") \(past(body.line("action")))",
          body.line("name"), body.link("url"),
        ])
    case "deployment": return deployment(body)
    default: return other(body, kind)
    }
  }

  /// Wiki pages, milestones, vulnerabilities, and what it may invent next.
  private static func other(_ body: JSON, _ kind: String) -> Rendered {
    // Members of groups and groups below them are told in another form; the user is whom it is about.
    if body["object_kind"] == nil {
      return Rendered(lines: ["\(project(body)): \(kind.replacing("_", with: " "))", body.line("user_name")])
    }
    let attributes = body["object_attributes"] ?? [:]
    let action = attributes.line("action", limit: 40).map { " " + past($0) } ?? ""
    return Rendered(
      lines: [
        "\(project(body)): \(kind.replacing("_", with: " "))\(action)\(by(body))",
        attributes.line("title") ?? attributes.line("name"), attributes.link("url") ?? projectLink(body),
      ])
  }

  private static func deployment(_ body: JSON) -> Rendered {
    let status = body.line("status", limit: 40) ?? "of unknown status"
    guard isOver(status) else { return Rendered(nothing: "the deployment is \(status)") }
    return Rendered(
      lines: [
        "\(project(body)): deployment to \(body.line("environment") ?? "?") \(said(status))\(by(body))",
        body.line("commit_title"), body.link("deployable_url") ?? projectLink(body),
      ])
  }

  private static func project(_ body: JSON) -> String {
    body.line("project", "path_with_namespace") ?? body.line("project", "name") ?? body.line("full_path")
      ?? body.line("group_path") ?? body.line("group", "full_path") ?? body.line("group", "group_path") ?? "GitLab"
  }

  private static func projectLink(_ body: JSON) -> String? { body.link("project", "web_url") }

  private static func by(_ body: JSON) -> String {
    (body.line("user", "name", limit: 80) ?? body.line("user_name", limit: 80)).map { " by \($0)" } ?? ""
  }

  private static func push(_ body: JSON, isTag: Bool) -> Rendered {
    let change = GitChange(
      project: project(body), reference: body.line("ref") ?? "", isTag: isTag,
      isDeleted: GitChange.isNothing(body["after"]), isNew: GitChange.isNothing(body["before"]), by: by(body))
    let commits = body["commits"]?.arrayValue ?? []
    let count = body["total_commits_count"]?.intValue ?? commits.count
    let titles = commits.map { $0.line("title", limit: 120) ?? GitChange.title(of: $0) }
    var link = commits.last?.link("url")
    if count > 1, let web = projectLink(body), let before = body.line("before"), let after = body.line("after"),
      !change.isNew
    {
      link = HookText.link("\(web)/-/compare/\(before.prefix(12))...\(after.prefix(12))")
    }
    return change.rendered(commits: count, titles, link: change.isDeleted ? nil : link ?? projectLink(body))
  }

  private static func thing(_ body: JSON, _ what: String, sign: String) -> Rendered {
    guard let attributes = body["object_attributes"] else { return Rendered(lines: [project(body) + ": " + what]) }
    // A change of a label or a description is told without an action by some versions.
    let action = past(attributes.line("action", limit: 40) ?? "update")
    var lines: [String?] = [
      "\(project(body)): \(what)\(attributes.line("iid").map { " " + sign + $0 } ?? "") \(action)\(by(body))",
      attributes.line("title"),
    ]
    if let source = attributes.line("source_branch"), let target = attributes.line("target_branch") {
      lines.append("\(source) → \(target)")
    }
    return Rendered(lines: lines + [attributes.link("url")])
  }

  private static func note(_ body: JSON) -> Rendered {
    var about = ""
    if let number = body.line("merge_request", "iid") {
      about = " on !" + number
    } else if let number = body.line("issue", "iid") {
      about = " on #" + number
    } else if let commit = body.line("commit", "id") {
      about = " on " + commit.prefix(8)
    } else if let snippet = body.line("snippet", "title") {
      about = " on " + snippet
    }
    let action = body.line("object_attributes", "action", limit: 40) == "update" ? " edited" : ""
    return Rendered(
      lines: [
        "\(project(body)): comment\(about)\(action)\(by(body))", body.line("object_attributes", "note", limit: 500),
        body.link("object_attributes", "url"),
      ])
  }

  private static func pipeline(_ body: JSON) -> Rendered {
    let attributes = body["object_attributes"] ?? [:]
    let status = attributes.line("status", limit: 40) ?? "of unknown status"
    guard isOver(status) else { return Rendered(nothing: "the pipeline is \(status)") }
    let id = attributes.line("id") ?? ""
    let took = attributes["duration"]?.doubleValue.map { " after \(Int(max(0, min($0, 1e9)))) s" } ?? ""
    return Rendered(
      lines: [
        "\(project(body)): pipeline \(id) on \(attributes.line("ref") ?? "?") \(said(status))\(took)\(by(body))",
        body["commit"].map { GitChange.title(of: $0) },
        attributes.link("url") ?? projectLink(body).flatMap { HookText.link("\($0)/-/pipelines/\(id)") },
      ])
  }

  private static func job(_ body: JSON) -> Rendered {
    let status = body.line("build_status", limit: 40) ?? "of unknown status"
    guard isOver(status) else { return Rendered(nothing: "the job is \(status)") }
    let id = body.line("build_id") ?? ""
    let name = body.line("project_name") ?? project(body)
    return Rendered(
      lines: [
        "\(name): job \(body.line("build_name") ?? id) on \(body.line("ref") ?? "?") \(said(status))\(by(body))",
        (body.link("repository", "homepage") ?? projectLink(body)).flatMap { HookText.link("\($0)/-/jobs/\(id)") },
      ])
  }

  private static func isOver(_ status: String) -> Bool {
    !["created", "waiting_for_resource", "preparing", "pending", "running", "scheduled"].contains(status)
  }

  private static func said(_ status: String) -> String {
    switch status {
    case "success": "succeeded"
    case "canceled": "was canceled"
    case "skipped": "was skipped"
    case "manual": "waits for somebody"
    default: status
    }
  }

  private static func past(_ action: String?) -> String {
    switch action {
    case "open": "opened"
    case "close": "closed"
    case "reopen": "reopened"
    case "update": "updated"
    case "merge": "merged"
    case "create": "created"
    case "delete": "deleted"
    case "approved", "approval": "approved"
    case "unapproved", "unapproval": "no longer approved"
    case let other: other ?? "changed"
    }
  }
}
