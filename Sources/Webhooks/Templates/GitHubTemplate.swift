import JSON

/// GitHub's webhooks, and Gitea's and Forgejo's, which are like them: the field X-GitHub-Event says what happened.
enum GitHubTemplate {
  static func render(_ body: JSON, event: String?) throws(HookRefusal) -> Rendered {
    guard let event = event.map({ HookText.line($0, 40) }), !event.isEmpty else {
      throw .body("there is no X-GitHub-Event with it", "point a webhook of GitHub here, content type application/json")
    }
    switch event {
    case "ping": return Rendered(lines: ["\(project(body)): the webhook works", body.line("zen")])
    case "push": return push(body)
    case "pull_request": return pullRequest(body)
    case "issues": return thing(body, "issue", body["issue"] ?? [:])
    case "discussion": return thing(body, "discussion", body["discussion"] ?? [:])
    case "issue_comment", "pull_request_review_comment", "commit_comment", "discussion_comment": return comment(body)
    case "pull_request_review": return review(body, state: body.line("review", "state", limit: 40))
    // Gitea's and Forgejo's.
    case "pull_request_comment" where body["comment"] != nil: return comment(body)
    case "pull_request_approved", "pull_request_rejected", "pull_request_comment":
      let state = ["pull_request_approved": "approved", "pull_request_rejected": "changes requested"][event]
      return review(body, state: state ?? "commented")
    case "release": return release(body)
    case "create", "delete":
      return Rendered(
        lines: [
          "\(project(body)): \(body.line("ref_type") ?? "reference") \(body.line("ref") ?? "") \(event)d\(by(body))",
          projectLink(body),
        ])
    case "workflow_run": return workflow(body)
    case "deployment_status": return deployment(body)
    case "deployment": return Rendered(nothing: "deployment_status tells of it")
    case "workflow_job", "check_run", "check_suite", "status":
      return Rendered(nothing: "\(event) is part of what workflow_run tells")
    default: return other(body, event)
    }
  }

  /// Alerts about security, stars, and what it may invent next.
  private static func other(_ body: JSON, _ event: String) -> Rendered {
    let action = body.line("action", limit: 40).map { " \($0)" } ?? ""
    let alert = body["alert"] ?? [:]
    return Rendered(
      lines: [
        "\(project(body)): \(event.replacing("_", with: " "))\(action.replacing("_", with: " "))\(by(body))",
        alert.line("security_advisory", "summary") ?? alert.line("rule", "description") ?? alert.line("secret_type"),
        alert.link("html_url") ?? projectLink(body),
      ])
  }

  private static func project(_ body: JSON) -> String {
    body.line("repository", "full_name") ?? body.line("organization", "login") ?? "GitHub"
  }

  private static func projectLink(_ body: JSON) -> String? { body.link("repository", "html_url") }

  private static func by(_ body: JSON) -> String { body.line("sender", "login", limit: 80).map { " by \($0)" } ?? "" }

  private static func push(_ body: JSON) -> Rendered {
    let reference = body.line("ref") ?? ""
    var change = GitChange(
      project: project(body), reference: reference, isTag: reference.hasPrefix("refs/tags/"),
      isDeleted: body["deleted"]?.boolValue ?? GitChange.isNothing(body["after"]),
      isNew: body["created"]?.boolValue ?? GitChange.isNothing(body["before"]),
      by: (body.line("pusher", "name", limit: 80) ?? body.line("sender", "login", limit: 80)).map { " by \($0)" } ?? "")
    change.isForced = body["forced"]?.boolValue == true
    let commits = body["commits"]?.arrayValue ?? []
    // Gitea compares what is new with nothing, which is no page.
    let compare = (body.link("compare") ?? body.link("compare_url")).flatMap { link in
      link.contains("/" + String(repeating: "0", count: 40)) ? nil : link
    }
    return change.rendered(
      commits: body["total_commits"]?.intValue ?? commits.count, commits.map { GitChange.title(of: $0) },
      link: change.isDeleted ? nil : compare ?? projectLink(body))
  }

  private static func pullRequest(_ body: JSON) -> Rendered {
    let request = body["pull_request"] ?? [:]
    var lines = thing(
      body, "pull request", request, action: request["merged"]?.boolValue == true ? "merged" : nil)
    if let source = request.line("head", "ref"), let target = request.line("base", "ref"),
      body.line("action") == "opened", let text = lines.text
    {
      lines.text = text + "\n\(source) → \(target)"
    }
    return lines
  }

  private static func thing(_ body: JSON, _ what: String, _ subject: JSON, action: String? = nil) -> Rendered {
    let given = body.line("action", limit: 40) ?? "changed"
    let done =
      switch given {
      case "closed": action ?? given
      case "synchronize", "synchronized": "has new commits"
      default: given.replacing("_", with: " ")
      }
    return Rendered(
      lines: [
        "\(project(body)): \(what) #\(subject.line("number") ?? body.line("number") ?? "?") \(done)\(by(body))",
        subject.line("title"), subject.link("html_url"),
      ])
  }

  private static func comment(_ body: JSON) -> Rendered {
    let subject = body["issue"] ?? body["pull_request"] ?? body["discussion"]
    var about = ""
    if let number = subject?.line("number") {
      about = " on #" + number
    } else if let commit = body.line("comment", "commit_id") {
      about = " on " + commit.prefix(8)
    }
    let action = body.line("action", limit: 40).flatMap { $0 == "created" ? nil : " " + $0 } ?? ""
    return Rendered(
      lines: [
        "\(project(body)): comment\(about)\(action)\(by(body))", body.line("comment", "body", limit: 500),
        body.link("comment", "html_url"),
      ])
  }

  private static func review(_ body: JSON, state: String?) -> Rendered {
    let state = state?.lowercased().replacing("_", with: " ") ?? "given"
    let number = body.line("pull_request", "number") ?? "?"
    return Rendered(
      lines: [
        "\(project(body)): review of #\(number): \(state)\(by(body))",
        body.line("review", "body", limit: 500) ?? body.line("review", "content", limit: 500),
        body.link("review", "html_url") ?? body.link("pull_request", "html_url"),
      ])
  }

  private static func release(_ body: JSON) -> Rendered {
    let action = body.line("action", limit: 40) ?? "changed"
    // One release is told several times: created, published, released.
    guard action == "published" || action == "deleted" else { return Rendered(nothing: "the release is \(action)") }
    return Rendered(
      lines: [
        "\(project(body)): release \(body.line("release", "tag_name") ?? "") \(action)\(by(body))",
        body.line("release", "name"), body.link("release", "html_url"),
      ])
  }

  private static func workflow(_ body: JSON) -> Rendered {
    let run = body["workflow_run"] ?? [:]
    guard body.line("action") == "completed", let conclusion = run.line("conclusion", limit: 40) else {
      return Rendered(nothing: "the workflow is not over")
    }
    let said = conclusion == "success" ? "succeeded" : conclusion == "failure" ? "failed" : "ended: \(conclusion)"
    let name = run.line("name") ?? body.line("workflow", "name") ?? run.line("id") ?? "?"
    return Rendered(
      lines: [
        "\(project(body)): workflow \(name) on \(run.line("head_branch") ?? "?") \(said)",
        run.line("display_title"), run.link("html_url"),
      ])
  }

  private static func deployment(_ body: JSON) -> Rendered {
    let status = body["deployment_status"] ?? [:]
    let state = status.line("state", limit: 40) ?? "of unknown state"
    if ["pending", "queued", "in_progress", "waiting", "inactive"].contains(state) {
      return Rendered(nothing: "the deployment is \(state)")
    }
    let said = ["success": "succeeded", "failure": "failed", "error": "failed"][state] ?? state
    return Rendered(
      lines: [
        "\(project(body)): deployment to \(status.line("environment") ?? "?") \(said)\(by(body))",
        status.line("description"), status.link("log_url") ?? status.link("target_url") ?? projectLink(body),
      ])
  }
}
